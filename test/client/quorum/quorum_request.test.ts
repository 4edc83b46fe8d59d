import { test } from 'tap';
import { RefusedError } from '../../../src/client/connect/errors.js';
import type { AggregatePrice } from '../../../src/client/prices/market_data.js';
import type { OperatorClient } from '../../../src/client/quorum/quorum_options.js';
import {
  askOperators,
  type NoQuorumError,
  type OperatorRequest,
} from '../../../src/client/quorum/quorum_request.js';
import type { NoQuorumEvent } from '../../../src/client/quorum/quorum_tick.js';
import { FakeSchedule } from '../fake_schedule.js';

const NOW_MS = 1_700_000_000_000;
const NOW_NS = BigInt(NOW_MS) * 1_000_000n;

type Prices = Readonly<Record<string, AggregatePrice>>;

function priceOf(symbol: string, price: bigint, signer: string, timestampNs = NOW_NS): Prices {
  return {
    [symbol]: { symbol, price, timestampNs, signer, verdict: 'verified', url: 'x' } as AggregatePrice,
  };
}

/** Makes an operator. The test chooses the operator's answers by the requested symbols. */
function operatorOf(name: string, assets: readonly string[] = ['A', 'B']) {
  const client = { assets: async () => assets } as never;
  return { name, client, services: 1, equivocation: undefined } satisfies OperatorClient;
}

async function ask(
  answers: readonly ((known: readonly string[]) => Promise<Prices>)[],
  { symbols = ['A'], schedule = new FakeSchedule(), aheadMsMax = 1_000 } = {},
) {
  const operators = answers.map((_, i) => operatorOf('abc'[i]!));
  const events: NoQuorumEvent[] = [];
  const request: OperatorRequest = {
    symbols,
    request: (operator, known) => answers[operators.indexOf(operator as never)]!(known),
    rules: { threshold: 2, maxSpread: 10n ** 18n, maxAgeMs: 1_000, maxAgeNs: 1_000_000_000n },
    time: () => ({ atMs: NOW_MS, aheadMsMax, nowMs: () => NOW_MS }),
  };
  const prices = await askOperators(operators, request, schedule, (event) => events.push(event)).catch(
    (error: NoQuorumError) => error,
  );
  return { prices, events };
}

test('a request has the median of the operators that agree', async (t) => {
  const { prices } = await ask([
    async () => priceOf('A', 1_000n, '0xA'),
    async () => priceOf('A', 1_004n, '0xB'),
    async () => priceOf('A', 1_050n, '0xC'),
  ]);
  t.match(prices, { A: { price: 1_002n, verdict: 'verified 2 of 3', signers: ['0xA', '0xB'] } });
  const same = await ask([
    async () => priceOf('A', 1n, '0xA'),
    async () => priceOf('A', 1n, '0xa'),
    async () => ({}),
  ]);
  t.match(same.prices, {
    message: /A: fewer than 2 .*a alone.*b shared key.*c silent: it has no such price/,
  });
});

test('a symbol that one operator lacks costs none of its other prices', async (t) => {
  const known = async (symbols: readonly string[]): Promise<Prices> => {
    if (symbols.includes('Z')) throw new RefusedError('u', 400, 'assets: unknown Z');
    return priceOf('A', 1_000n, symbols.join());
  };
  const { prices, events } = await ask(
    [known, async () => ({ ...priceOf('A', 1_000n, '0xB'), ...priceOf('Z', 7n, '0xB') }), async () => ({})],
    { symbols: ['A', 'Z'] },
  );
  t.match(prices, { A: { verdict: 'verified 2 of 3' }, Z: undefined });
  t.match(events, [{ symbol: 'Z', operators: [{ verdict: 'unknown asset' }, { verdict: 'alone' }, {}] }]);
});

test('slow operators are waited for while there is no quorum, and only shortly after that', async (t) => {
  const schedule = new FakeSchedule();
  let answer: (prices: Prices) => void = () => {};
  const late = new Promise<Prices>((resolve) => {
    answer = resolve;
  });
  const first = ask([async () => priceOf('A', 1_000n, '0xA'), () => late, () => late], { schedule });
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(schedule.pending.length, 0);
  answer(priceOf('A', 1_000n, '0xB'));
  t.match((await first).prices, { A: { verdict: 'verified 2 of 3' } });
  const never = new Promise<Prices>(() => {});
  const second = ask(
    [async () => priceOf('A', 1_000n, '0xA'), async () => priceOf('A', 1_000n, '0xB'), () => never],
    { schedule },
  );
  while (schedule.pending.length === 0) await new Promise((resolve) => setImmediate(resolve));
  t.equal(schedule.runOnly(), 250);
  t.match((await second).prices, {
    A: { verdict: 'verified 2 of 3', operators: [{}, {}, { verdict: 'silent' }] },
  });
});
