import { type Test, test } from 'tap';
import { LeadershipLost } from '../../../src/cluster/log/log_writer.js';
import type { BatchSource } from '../../../src/cluster/node/batch_source.js';
import type { CheckpointPublisher } from '../../../src/cluster/node/checkpoint_publisher.js';
import { PublicLog } from '../../../src/cluster/node/public_log.js';
import { Ledger, LedgerStopped } from '../../../src/publiclog/ledger/ledger.js';
import { LOG_ORIGIN, SECOND_NS } from '../../tlog/witnessed_log.js';
import { ledgerFolders } from './ledger_folders.js';

/** Opens a log with one batch. The witnesses of the log know a larger tree. */
async function objectedLog(
  t: Test,
  appended: (log: PublicLog, ...part: Parameters<BatchSource['append']>) => Promise<void>,
) {
  const folders = ledgerFolders(t);
  const ledger = await Ledger.open({ ...folders, origin: LOG_ORIGIN, onMismatch: t.fail });
  await ledger.apply(await ledger.nextEntry(0n, 0n, SECOND_NS));
  const publisher = {
    begin() {},
    due: undefined,
    mayReplace: true,
    isGraceOver: false,
    cosigners: 0,
    requireNoLoss() {
      throw new LedgerStopped('the witness W1 has cosigned 9 batches');
    },
    stopAsking: async () => {},
  };
  const logger = { info() {}, warn() {}, error() {} };
  const log = new PublicLog({
    ledger,
    stateFolder: folders.stateFolder,
    publisher: publisher as unknown as CheckpointPublisher,
    facts: { origin: LOG_ORIGIN, vkey: '', policy: '', maxDelayS: 30 },
    batchNs: SECOND_NS,
    checkpointMs: 1_000,
    onStopped: async () => {},
    nowMs: () => 0,
    logger,
  });
  t.teardown(() => log.close());
  const parts: string[] = [];
  log.lead({
    epoch: 1,
    isOver: false,
    doubt: undefined,
    signingSinceNs: undefined,
    endPeriod: () => 0n,
    durable: async () => {},
    append: (kind, bytes) => {
      parts.push(kind);
      return appended(log, kind, bytes);
    },
  });
  log.tick();
  for (let turn = 0; turn < 100 && log.troubles().length === 0; turn++) await new Promise(setImmediate);
  return { log, parts };
}

test('the log of a leader stops when its witnesses know a larger tree', async (t) => {
  const { log, parts } = await objectedLog(t, async (own, ...part) => own.follow(...part));
  t.same(parts, ['batch'], 'it wrote to the log of prices first');
  t.match(log.troubles(), [/the public log has stopped: the witness W1 has cosigned 9 batches/]);
});

test('the log of a node that leads no more does not stop for the trees of the next leader', async (t) => {
  const { log, parts } = await objectedLog(t, () =>
    Promise.reject(new LeadershipLost('the node no longer leads')),
  );
  t.same(parts, ['batch']);
  t.notOk(log.figures().isStopped);
  t.match(log.troubles(), [/the public log waits: the node no longer leads/]);
});
