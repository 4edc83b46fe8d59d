import { test } from 'tap';
import { LOG_START } from '../../../src/cluster/bus.js';
import type { LogBatch, PublicLogKind } from '../../../src/cluster/log/log_batch.js';
import { LogApplier, placeToReadFrom } from '../../../src/cluster/node/log_applier.js';
import { openStore } from '../../../src/log/store/store.js';
import { formatCheckpoint } from '../../../src/tlog/tree_checkpoint.js';
import { emptyRoot } from '../../../src/tlog/tree_hash.js';
import { storeOptions } from '../../log/store/sample.js';
import { LOG_ORIGIN } from '../../tlog/witnessed_log.js';

test('an aggregator whose folder was an edge’s reads the log from its beginning, until it has all inputs', async (t) => {
  const options = storeOptions(t.testdir());
  const place = { sequence: 9, id: '0123456789abcdef'.repeat(4) };
  const start = async (keepsInputs: boolean, hasAll: boolean) => {
    const store = await openStore(options);
    const from = placeToReadFrom(store.log, keepsInputs);
    if (keepsInputs && hasAll) store.log.lacksInputs = false;
    store.log.position = place;
    await store.close();
    return from.sequence;
  };
  const { sequence: beginning } = LOG_START;
  t.equal(await start(true, true), beginning, 'a new folder');
  t.equal(await start(true, true), 9);
  t.equal(await start(false, false), 9);
  t.equal(await start(false, false), 9, 'an edge again');
  t.equal(await start(true, false), beginning);
  t.equal(await start(true, true), beginning, 'ended before it had all');
  t.equal(await start(true, true), 9);
});

test('a part of the public log that cannot be read costs its record only', async (t) => {
  const store = await openStore(storeOptions(t.testdir()));
  const faults: string[] = [];
  const followed: string[] = [];
  const applier = new LogApplier({
    store,
    publicLog: {
      follow: (kind) => followed.push(kind),
      record: () => t.fail('a record without effect was kept'),
    },
    source: { recorded: () => t.fail('a record without effect was served') },
    catalogue: () => undefined as never,
    keepsInputs: true,
    onMinuteClosed: () => {},
    onUnauthentic: (reason) => faults.push(reason),
    onStoreChanged: () => {},
  });
  const price = { symbol: 'BTCUSD', signatureType: 'evm', bytes: new Uint8Array(8) } as const;
  const head = Buffer.from(formatCheckpoint({ origin: LOG_ORIGIN, size: 0n, root: emptyRoot() }));
  const parts: [PublicLogKind, Uint8Array][] = [
    ['batch', Buffer.from('tickseal-batch/v1\nepoch x\n')],
    ['batch', new Uint8Array(0)],
    ['head', Buffer.from([0xff, 0xfe])],
    ['head', Buffer.from('prices.example.com/tlog\n-1\n\n')],
    ['checkpoint', head],
    ['checkpoint', Buffer.alloc(70_000, 0x20)],
  ];
  parts.forEach(([publicLog, bytes], i) => {
    const entry = { symbol: '', signatureType: 'evm', publicLog, bytes } as const;
    applier.apply({ entries: [price, entry] } as unknown as LogBatch, { sequence: i + 1, id: `${i}` });
    t.equal(applier.unauthenticCount, i + 1);
    t.match(faults.at(-1), `record ${i + 1} of the log has a part of the public log that cannot be read`);
  });
  t.same(followed, []);
  const entry = { symbol: '', signatureType: 'evm', publicLog: 'head', bytes: head } as const;
  applier.apply({ entries: [entry] } as unknown as LogBatch, { sequence: 9, id: '9' });
  t.same(followed, ['head'], 'the log goes on after them');
  t.equal(store.log.position?.sequence, 9);
  await store.close();
});
