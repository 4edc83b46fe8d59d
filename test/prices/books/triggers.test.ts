import fc from 'fast-check';
import { test } from 'tap';
import type { Price } from '../../../src/model/price.js';
import type { TimeNs } from '../../../src/model/time.js';
import { SigningTriggers } from '../../../src/prices/books/triggers.js';
import { START_NS, sampleAsset } from '../../model/sample.js';
import { cases } from '../../tier.js';

const MS = 1_000_000n;
const half = sampleAsset({ clockPeriodNs: 500n * MS });

test('a clock stepped back starts counting anew', async (t) => {
  const triggers = new SigningTriggers([half], START_NS);
  const hourNs = 3_600_000n * MS;
  const dueAt = (timeNs: bigint) => triggers.due(timeNs as TimeNs).length;
  t.equal(dueAt(START_NS + 500n * MS), 1);
  t.equal(dueAt(START_NS + 600n * MS - hourNs), 0);
  t.equal(dueAt(START_NS + 999n * MS - hourNs), 0);
  t.equal(dueAt(START_NS + 1000n * MS - hourNs), 1);
  t.equal(dueAt(START_NS + 1500n * MS - hourNs), 1);
  t.equal(dueAt(START_NS + 1499n * MS - hourNs), 0, 'a short step back does not repeat what was due');
  t.equal(dueAt(START_NS + 2000n * MS - hourNs), 1);
});

test('each multiple of each period is due at the first call at or after it', async () => {
  const period = fc.bigInt({ min: 1n, max: 50n });
  fc.assert(
    fc.property(
      fc.array(period, { minLength: 1, maxLength: 4 }),
      fc.array(fc.bigInt({ min: 0n, max: 120n }), { maxLength: 40 }),
      (periodsNs, steps) => {
        const assets = periodsNs.map((clockPeriodNs, index) => sampleAsset({ index, clockPeriodNs }));
        const triggers = new SigningTriggers(assets, START_NS);
        let timeNs: bigint = START_NS;
        return steps.every((passNs) => {
          const fromNs = timeNs;
          timeNs += passNs;
          const due = new Set(triggers.due(timeNs as TimeNs));
          return assets.every(
            (asset) => due.has(asset) === timeNs / asset.clockPeriodNs > fromNs / asset.clockPeriodNs,
          );
        });
      },
    ),
  );
});

test('the first price is a delta, and so is the first after the price ended', async (t) => {
  const triggers = new SigningTriggers([half], START_NS);
  t.equal(triggers.isDelta(half, 100n as Price), true);
  triggers.signed(half.index, 100n as Price);
  t.equal(triggers.isDelta(half, 100n as Price), false);
  triggers.ended(half.index);
  t.equal(triggers.isDelta(half, 100n as Price), true);
});

test('a delta agrees with a slow comparison of fractions', async () => {
  const price = fc.bigInt({ min: -(2n ** 127n), max: 2n ** 127n - 1n });
  fc.assert(
    fc.property(
      price,
      fc.bigInt({ min: -1000n, max: 1000n }),
      fc.bigInt({ min: 0n, max: 1000n }),
      (last, move, delta) => {
        // The delta is in millionths of a percent. The test computes moves near the delta from the delta itself.
        const asset = sampleAsset({ delta });
        const near = (last * delta) / 10n ** 8n + move;
        const triggers = new SigningTriggers([asset], START_NS);
        triggers.signed(asset.index, last as Price);
        const [numerator, denominator] = [near < 0n ? -near : near, last < 0n ? -last : last];
        const isFar = near !== 0n && numerator * 10n ** 8n >= delta * denominator;
        return triggers.isDelta(asset, (last + near) as Price) === isFar;
      },
    ),
    { numRuns: cases(300) },
  );
});
