import { test } from 'tap';
import { Coverage } from '../../../src/client/prices/coverage.js';

const MS = 1_000_000n;

function newCoverage(intervalMs: bigint) {
  const gaps: string[] = [];
  const coverage = new Coverage(intervalMs * MS, (fromNs, toNs) => gaps.push(`${fromNs / MS}-${toNs / MS}`));
  return {
    began: (service: number, ms: bigint) => coverage.seen(service, ms * MS),
    afterLoss: (service: number, ms: bigint) => coverage.seen(service, ms * MS, true),
    ended(service: number, ms: bigint) {
      coverage.seen(service, ms * MS);
      coverage.lost(service);
    },
    told: () => gaps.splice(0),
  };
}

test('one service: each time without a connection is a gap, except between two ticks in a row', async (t) => {
  const changes = newCoverage(0n);
  changes.began(0, 5_000n);
  t.same(changes.told(), [], 'nothing is missing before the first payload');
  changes.ended(0, 6_000n);
  t.same(changes.told(), [], 'the end of the gap is not known yet');
  changes.began(0, 6_100n);
  t.same(changes.told(), ['6000-6100']);
  const ticks = newCoverage(1_000n);
  ticks.began(0, 5_000n);
  ticks.ended(0, 6_000n);
  ticks.began(0, 7_000n);
  t.same(ticks.told(), []);
  ticks.ended(0, 7_000n);
  ticks.began(0, 9_000n);
  t.same(ticks.told(), ['7000-9000']);
});

test('several services: no gap while one of them lives', async (t) => {
  const { began, ended, told } = newCoverage(0n);
  began(0, 100n);
  began(1, 110n);
  ended(0, 500n);
  began(0, 700n);
  ended(1, 900n);
  began(1, 1_000n);
  ended(0, 1_100n);
  t.same(told(), []);
  ended(1, 1_200n);
  t.same(told(), []);
  began(1, 1_500n);
  t.same(told(), ['1200-1500']);
  began(0, 1_400n);
  t.same(told(), [], 'a gap is told once');
});

test('payloads that were lost on a connection leave a gap, unless another connection had them', async (t) => {
  const one = newCoverage(0n);
  t.equal(one.afterLoss(0, 100n), true, 'nothing is missing before the first payload');
  one.began(0, 200n);
  t.equal(one.afterLoss(0, 900n), false, 'the connection is the same');
  t.same(one.told(), ['200-900']);
  const stalled = newCoverage(0n);
  stalled.began(0, 100n);
  stalled.began(1, 110n);
  stalled.began(0, 120n);
  stalled.afterLoss(0, 900n);
  t.same(stalled.told(), [], 'the other connection may have them');
  stalled.afterLoss(1, 910n);
  t.same(stalled.told(), ['120-900'], 'both connections stood still');
});
