import { test } from 'tap';
import type { BatchSource } from '../../../src/cluster/node/batch_source.js';
import type { OpenLog } from '../../../src/cluster/node/public_log.js';
import { StreamLog } from '../../../src/cluster/node/stream_log.js';

const SECOND_NS = 1_000_000_000n;

test('no hash is before the end of a period, also after a step back of the clock', async (t) => {
  let nowNs = 100n * SECOND_NS + 5n;
  let source: BatchSource | undefined;
  const records: Uint8Array[] = [];
  const log = {
    endNs: 0n,
    lead(given: BatchSource) {
      source = given;
    },
    add: (record: Uint8Array) => records.push(record),
    troubles: () => [],
    close: async () => {},
  };
  const streams = new StreamLog({
    log: log as unknown as OpenLog,
    clock: { nowNs: () => nowNs as never },
    epoch: 3,
  });
  const timesOfNew = () => records.splice(0).map((one) => Buffer.from(one).readBigUInt64BE(32));
  streams.add(new Uint8Array(64).fill(1));
  t.same(timesOfNew(), [nowNs, nowNs], 'a hash has the time of its arrival');
  t.equal(source!.endPeriod(SECOND_NS), 100n * SECOND_NS);
  nowNs -= 60n * SECOND_NS;
  streams.add(new Uint8Array(32));
  t.same(timesOfNew(), [100n * SECOND_NS]);
  t.equal(source!.endPeriod(SECOND_NS), 100n * SECOND_NS + 1n, 'so the hash is in a batch soon');
  streams.add(new Uint8Array(32));
  t.same(timesOfNew(), [100n * SECOND_NS + 1n]);
  await streams.close();
  t.ok(source!.isOver);
  streams.add(new Uint8Array(32));
  t.same(timesOfNew(), []);
});
