import { test } from 'tap';
import { Coverage } from '../../../src/client/prices/coverage.js';

const MS = 1_000_000n;

function newCoverage(intervalMs: bigint) {
  const gaps: string[] = [];
  const coverage = new Coverage(intervalMs * MS, (fromNs, toNs) => gaps.push(`${fromNs / MS}-${toNs / MS}`));
  return {
    began: (service: number, ms: bigint) => coverage.seen(service, ms * MS),
    ended(service: number, ms: bigint) {
      coverage.seen(service, ms * MS);
      coverage.lost(service);
    },
    told: () => gaps.splice(0),
  };
}

test('one service: each time without a connection is a gap, except between two ticks in a row', async (t) => {
  for (const cutMs of [100n, 1_000n, 10_000n, 60_000n]) {
    const changes = newCoverage(0n);
    changes.began(0, 5_000n);
    t.same(changes.told(), [], 'nothing is missing before the first payload');
    changes.ended(0, 6_000n);
    t.same(changes.told(), [], 'the end of the gap is not known yet');
    changes.began(0, 6_000n + cutMs);
    t.same(changes.told(), [`6000-${6_000n + cutMs}`]);
    const ticks = newCoverage(1_000n);
    ticks.began(0, 5_000n);
    ticks.ended(0, 6_000n);
    ticks.began(0, 6_000n + cutMs);
    t.same(ticks.told(), cutMs > 1_000n ? [`6000-${6_000n + cutMs}`] : []);
  }
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

test('a connection that was dead before the other one came up leaves a gap, which is told when it is lost', async (t) => {
  const { began, ended, told } = newCoverage(0n);
  began(0, 100n);
  began(1, 5_000n);
  t.same(told(), []);
  ended(0, 1_000n);
  t.same(told(), ['1000-5000']);
  began(0, 6_000n);
  ended(0, 6_500n);
  ended(1, 7_000n);
  began(1, 7_000n);
  t.same(told(), []);
});
