import fc from 'fast-check';
import { test } from 'tap';
import { NS_PER_SECOND } from '../../../src/model/time.js';
import { RateLimiter } from '../../../src/server/access/rate_limit.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { cases } from '../../tier.js';

const SECOND = NS_PER_SECOND;

function newLimiter() {
  const clock = new FakeClock();
  return { clock, limiter: new RateLimiter(clock) };
}

test('a burst of five, then one every 200 ms, with headers that say so', async (t) => {
  const { clock, limiter } = newLimiter();
  for (const remaining of [4, 3, 2, 1, 0]) {
    const allowance = limiter.take('a', 5);
    t.same(allowance, { allowed: true, limit: 5, remaining, resetS: 1, retryAfterS: 0 });
  }
  t.same(limiter.take('a', 5), { allowed: false, limit: 5, remaining: 0, resetS: 1, retryAfterS: 1 });
  clock.advance(SECOND / 5n - 1n);
  t.equal(limiter.take('a', 5).allowed, false);
  clock.advance(1n);
  t.equal(limiter.take('a', 5).allowed, true);
  t.equal(limiter.take('a', 5).allowed, false);
  clock.advance(SECOND);
  t.equal(limiter.take('a', 5).remaining, 4);
});

test('no window of 60 s allows more than its share and one burst, and refusals cost nothing', async () => {
  const gapNs = fc.oneof(
    fc.constant(0n),
    fc.bigInt({ min: 0n, max: SECOND / 3n }),
    fc.bigInt({ min: 0n, max: 20n * SECOND }),
  );
  fc.assert(
    fc.property(
      fc.array(gapNs, { maxLength: 400, size: 'max' }),
      fc.integer({ min: 1, max: 9 }),
      (gaps, rate) => {
        const { clock, limiter } = newLimiter();
        const allowedAt: bigint[] = [];
        for (const gap of gaps) {
          clock.advance(gap);
          if (limiter.take('a', rate).allowed) allowedAt.push(clock.timeNs);
        }
        // Between a request and the request one full allowance later, more than a minute must pass.
        const most = rate * 60 + rate;
        return allowedAt.every(
          (timeNs, i) => (allowedAt[i + most] ?? timeNs + 61n * SECOND) - timeNs > 60n * SECOND,
        );
      },
    ),
    { numRuns: cases(60) },
  );
});

test('a clock stepped back an hour locks nobody out', async (t) => {
  const { clock, limiter } = newLimiter();
  for (let i = 0; i < 6; i++) limiter.take('a', 5);
  clock.advance(-3600n * SECOND);
  t.same(limiter.take('a', 5), { allowed: true, limit: 5, remaining: 4, resetS: 1, retryAfterS: 0 });
  for (let i = 0; i < 4; i++) limiter.take('a', 5);
  t.equal(limiter.take('a', 5).allowed, false);
});
