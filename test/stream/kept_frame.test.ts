import fc from 'fast-check';
import { test } from 'tap';
import type { AssetIndex } from '../../src/model/asset.js';
import type { Price } from '../../src/model/price.js';
import type { TimeNs } from '../../src/model/time.js';
import { FrameEncoder } from '../../src/stream/encoder.js';
import { KeptFrame } from '../../src/stream/kept_frame.js';
import { PriceTable } from '../../src/stream/price_table.js';
import { NO_SCHEDULE } from '../../src/wire/market_status_codes.js';
import { cases } from '../tier.js';

const ASSETS = 6;

/** The changes between two frames. */
const change = fc.oneof(
  // The prices differ in length, so that only some texts keep their length.
  fc.record({
    do: fc.constant('set' as const),
    asset: fc.nat(ASSETS - 1),
    price: fc.bigInt(-1_000n, 1_000n),
  }),
  fc.record({ do: fc.constant('clear' as const), asset: fc.nat(ASSETS - 1) }),
  fc.record({
    do: fc.constant('status' as const),
    asset: fc.nat(ASSETS - 1),
    status: fc.constantFrom(0, 1, 2, 3, NO_SCHEDULE),
  }),
  fc.record({ do: fc.constant('renumber' as const), firstId: fc.nat(60_000) }),
);

test('a kept frame always equals one that is made anew', async (t) => {
  fc.assert(
    fc.property(
      fc.subarray([0, 1, 2, 3, 4, 5], { minLength: 1 }),
      fc.boolean(),
      fc.array(fc.tuple(fc.array(change, { maxLength: 4 }), fc.bigInt(1n, 2n ** 63n)), { maxLength: 12 }),
      (set, withStatus, steps) => {
        const table = new PriceTable([1, 2, 3, 4, 5, 6]);
        const assets = set as AssetIndex[];
        const kept = new KeptFrame(table, 7, assets);
        const statuses = new Uint8Array(ASSETS).fill(NO_SCHEDULE);
        for (const [changes, timestampNs] of steps) {
          for (const one of changes) {
            if (one.do === 'set') table.set(one.asset as AssetIndex, one.price as Price);
            else if (one.do === 'clear') table.clear(one.asset as AssetIndex);
            else if (one.do === 'status') statuses[one.asset] = one.status;
            else table.resize(Array.from({ length: ASSETS }, (_, i) => one.firstId + i));
          }
          const given = withStatus ? statuses : undefined;
          const live = assets.filter((asset) => table.live[asset] === 1);
          const anew = new FrameEncoder(table, 7)
            .unsignedFrame(live, timestampNs as TimeNs, given)
            .toString();
          const frame = kept.at(timestampNs as TimeNs, given)?.toString();
          t.equal(frame, live.length === 0 ? undefined : anew);
        }
      },
    ),
    { numRuns: cases(500) },
  );
});
