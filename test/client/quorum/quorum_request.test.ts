import { test } from 'tap';
import type { AggregatePrice } from '../../../src/client/prices/market_data.js';
import type { OperatorClient } from '../../../src/client/quorum/quorum_options.js';
import { askOperators, type OperatorRequest } from '../../../src/client/quorum/quorum_request.js';
import { FakeSchedule } from '../fake_schedule.js';

const NOW_MS = 1_700_000_000_000;

type Answer = Promise<Readonly<Record<string, AggregatePrice>>>;

function priceOf(price: bigint, signer: string) {
  const timestampNs = BigInt(NOW_MS) * 1_000_000n;
  return { A: { symbol: 'A', price, timestampNs, signer, verdict: 'verified', url: 'x' } as AggregatePrice };
}

/** Asks operators for asset A, with an answer of each. */
function ask(answers: readonly Answer[], schedule: FakeSchedule) {
  const operators = answers.map((_, i): OperatorClient => {
    const client = { assets: async () => ['A'] } as never;
    return { name: 'abc'[i]!, client, services: 1, equivocation: undefined };
  });
  const request: OperatorRequest = {
    symbols: ['A'],
    request: (operator) => answers[operators.indexOf(operator)]!,
    rules: { threshold: 2, maxSpread: 10n ** 18n, maxAgeMs: 1_000, maxAgeNs: 1_000_000_000n },
    time: () => ({ atMs: NOW_MS, aheadMsMax: 1_000, nowMs: () => NOW_MS }),
  };
  return askOperators(operators, request, schedule, () => {});
}

test('slow operators are waited for while there is no quorum, and only shortly after that', async (t) => {
  const schedule = new FakeSchedule();
  const [now, also] = [Promise.resolve(priceOf(1_000n, '0xA')), Promise.resolve(priceOf(1_000n, '0xB'))];
  let answer: (prices: Awaited<Answer>) => void = () => {};
  const late: Answer = new Promise((resolve) => {
    answer = resolve;
  });
  const first = ask([now, late, late], schedule);
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(schedule.pending.length, 0);
  answer(priceOf(1_000n, '0xB'));
  t.match(await first, { A: { verdict: 'verified 2 of 3' } });
  const second = ask([now, also, new Promise(() => {})], schedule);
  while (schedule.pending.length === 0) await new Promise((resolve) => setImmediate(resolve));
  t.equal(schedule.runOnly(), 250);
  t.match(await second, {
    A: { verdict: 'verified 2 of 3', operators: [{}, {}, { verdict: 'silent' }] },
  });
});
