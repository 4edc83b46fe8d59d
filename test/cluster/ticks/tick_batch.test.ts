import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { test } from 'tap';
import { decodeTickBatch, encodeTickBatch } from '../../../src/cluster/ticks/tick_batch.js';
import { UnreadableMessage } from '../../../src/cluster/unreadable.js';
import { CLUSTER_ASSETS_MAX } from '../../../src/model/node_list.js';
import { PRICE_MAX, PRICE_MIN, type Price } from '../../../src/model/price.js';
import { PUBLISHERS_MAX, SPREAD_PPM_MAX } from '../../../src/model/price_with_quality.js';
import { holds } from '../../holds.js';
import { livePrice } from '../../model/sample.js';
import { cases } from '../../tier.js';
import { damaged } from '../damaged.js';

const streamingId = fc.integer({ min: 0, max: 0xffff });
const price = fc.bigInt({ min: PRICE_MIN, max: PRICE_MAX }).map((value) => value as Price);
const PLAIN = { noNullPrototype: true } as const;
const quality = fc.record(
  {
    newestNs: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    publishers: fc.integer({ min: 1, max: PUBLISHERS_MAX }),
    spreadPpm: fc.integer({ min: 0, max: SPREAD_PPM_MAX }),
  },
  PLAIN,
);
const batch = fc.record({
  epoch: fc.maxSafeNat(),
  number: fc.maxSafeNat(),
  full: fc.boolean(),
  prices: fc
    .array(fc.tuple(streamingId, fc.record({ price, quality }, PLAIN)), { maxLength: 20 })
    .map((pairs) => new Map(pairs)),
  ended: fc.array(streamingId, { maxLength: 5 }),
  taxonomy: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
});

test('ticks are read as they were written, wherever they lie in memory', async (t) => {
  holds(
    t,
    fc.property(batch, fc.nat(7), (written, offset) => {
      const encoded = encodeTickBatch(written);
      const moved = new Uint8Array(encoded.length + offset);
      moved.set(encoded, offset);
      const read = decodeTickBatch(moved.subarray(offset));
      assert.deepEqual({ ...read, prices: [...read.prices] }, { ...written, prices: [...written.prices] });
    }),
    { numRuns: cases(200) },
  );
});

test('all prices fit one message', async (t) => {
  const prices = new Map(
    Array.from({ length: CLUSTER_ASSETS_MAX }, (_, id) => [id, livePrice(PRICE_MIN)] as const),
  );
  t.ok(
    encodeTickBatch({ epoch: 1, number: 1, full: true, prices, ended: [], taxonomy: 1n }).length <
      1024 * 1024,
  );
});

test('damaged ticks are refused or read, and never do harm', async (t) => {
  holds(
    t,
    fc.property(batch.map(encodeTickBatch).chain(damaged), (hostile) => {
      try {
        assert.ok(decodeTickBatch(hostile).prices.size * 30 <= hostile.length);
      } catch (error) {
        assert.ok(error instanceof UnreadableMessage);
      }
    }),
    { numRuns: 2_000 },
  );
});
