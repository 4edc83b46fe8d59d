import { join } from 'node:path';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { Ledger } from '../../src/publiclog/ledger/ledger.js';
import { publicFolderOf, stateFolderOf } from '../../src/publiclog/ledger/ledger_folder.js';
import { startLog } from '../../src/publiclog/ledger/log_start.js';
import { emptyFolder } from '../publiclog/witness/small_witness.js';
import { ask, goJudge, pythonJudge } from '../tlog/judges.js';
import { recordAt, SECOND_NS } from '../tlog/witnessed_log.js';
import { publisherSigner, SERVICE_KEYS, startTestService } from './harness.js';
import { latestWhen, openPublisher, refusalOf, UNIT } from './publishing.js';

// Checks a whole log over HTTP with golang.org/x/mod/sumdb and with aics-tlog, as far as Go and Python are installed.

const judges = [goJudge(), pythonJudge()].filter(({ skip }) => skip === false);
const skip = judges.length === 0 && 'neither Go nor Python with aics-tlog is here';
const ORIGIN = 'prices.example.com/tlog';
const KEYS = { ...SERVICE_KEYS, log: Buffer.alloc(32, 0x33) };
const SECTIONS = {
  keys: { evm: { file: 'unused' }, stark: { file: 'unused' }, log: { file: 'unused' } },
  log: { origin: ORIGIN, batch: '100ms', checkpoint: '200ms' },
};
/** The number of batches in the folder before the service starts: a full tile, and most of a second tile. */
const BATCHES = 500n;
const FIRST_NS = (BigInt(Date.now()) / 1_000n - 3_600n) * SECOND_NS;

/** Writes a log of many batches, with a price in every second batch, so that the test need not wait for the batches. */
async function writeOlderLog(dataFolder: string): Promise<void> {
  const folders = { publicFolder: publicFolderOf(dataFolder), stateFolder: stateFolderOf(dataFolder) };
  const sizes = { read: () => undefined, write: async () => {} };
  await startLog({ ...folders, origin: ORIGIN, sizes, mustExist: false });
  const onMismatch = (reason: string) => {
    throw new Error(reason);
  };
  const ledger = await Ledger.open({ ...folders, origin: ORIGIN, onMismatch });
  for (let batch = 0n; batch < BATCHES; batch += 1n) {
    const fromNs = FIRST_NS + batch * SECOND_NS;
    if (batch % 2n === 0n) ledger.add(recordAt(fromNs + 1n));
    await ledger.apply(await ledger.nextEntry(1n, fromNs, fromNs + SECOND_NS));
  }
  await ledger.seal();
  await ledger.close();
}

function sizeOf(checkpoint: string): bigint {
  return BigInt(checkpoint.split('\n')[1]!);
}

test('Go and Python check each tile, record and checkpoint of a service', { skip }, async (t) => {
  const dir = emptyFolder(t);
  await writeOlderLog(join(dir, 'store'));
  const service = await startTestService(
    // The implementation in Python opens a connection for each file.
    { ...SECTIONS, limits: { connections_per_address: 100_000 } },
    { dir, keys: KEYS },
  );
  t.teardown(() => service.stop());
  const { log } = (await (await fetch(`${service.url}/v1/signers`)).json()) as { log: { vkey: string } };
  const URL = `${service.url}/tlog`;
  /** Waits for a checkpoint of more batches than a size. */
  const checkpoint = (size: bigint) =>
    eventually(async () => {
      const response = await fetch(`${URL}/checkpoint`);
      const text = await response.text();
      return response.status === 200 && sizeOf(text) > size ? text : undefined;
    });
  const first = await checkpoint(BATCHES);
  const update = publisherSigner(1, 'evm').sign({
    symbol: 'BTCUSD',
    price: 100n * UNIT,
    timestampNs: BigInt(Date.now()) * 1_000_000n,
  });
  const socket = await openPublisher(service, 'evm');
  t.equal(await refusalOf(socket, update), undefined);
  await socket.close();
  await latestWhen(service, 'BTCUSD');
  // The second tile is full too, and its partial tiles are gone.
  const full = await checkpoint(513n);
  // The price is in one of the next five batches.
  const second = await checkpoint(sizeOf(full) + 5n);
  const served = (Keys: string[], earlier: readonly string[]) => ({
    kind: 'served',
    URL,
    Keys,
    Earlier: earlier.map((text) => Buffer.from(text).toString('base64')),
  });
  const other = log.vkey.replace('prices.', 'others.');
  const forged = first.replace(/\n\d+\n/, '\n7\n');
  for (const judge of judges) {
    const verdicts = await ask(judge, [
      served([log.vkey], [first, second]),
      served([other], []),
      served([log.vkey], [forged]),
    ]);
    t.match(verdicts[0], { Accepted: true }, `${judge.name}: ${verdicts[0]!.Reason}`);
    t.ok(verdicts[0]!.Size! > 513);
    t.ok(verdicts[0]!.Records! > Number(BATCHES) / 2, 'also the records of the service');
    t.match(verdicts.slice(1), [{ Accepted: false }, { Accepted: false }]);
    t.match(verdicts[2]!.Reason, /signature/);
  }
});
