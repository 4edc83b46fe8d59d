import { type Test, test } from 'tap';
import type { Deployed, Hex } from './chain.js';
import { ALL, E18, NS_PER_S, PRICE, SPREAD, STATUS } from './payloads.js';
import { deployFeed, deployReader, feedCode, START_S, type Terms, updateAt } from './reader.js';

// Tests of the feed: Chainlink's interfaces over the prices of a reader.

/** The reasons to refuse a price, in the order of the contract. */
const [, NOT_NEWER, ATTRIBUTE_MISSING, MARKET_CLOSED, INPUTS_TOO_OLD, SPREAD_TOO_WIDE] = [0, 1, 2, 3, 4, 5];
const NO_DATA = { ok: false, error: 'Error', args: ['No data present'] };

async function feedOf(terms: Partial<Terms> = {}, options: Parameters<typeof deployFeed>[1] = {}) {
  const reader = await deployReader(terms);
  return { reader, chain: reader.chain, feed: await deployFeed(reader, options) };
}

const one = (value: bigint) => [{ id: 1, value }];

/** Checks that the feed refuses an update with a reason of the reader. */
async function refuses(
  t: Test,
  { reader, feed }: { reader: Deployed; feed: Deployed },
  why: number,
  payload: Hex,
) {
  const result = await feed
    .as({ ...feedCode, abi: [...feed.abi, ...reader.abi] } as never)
    .call('update', [payload]);
  t.match(result, { ok: false, error: 'Refused', args: [1, why] });
}

test('answers have the decimals of the feed, rounded toward zero', async (t) => {
  const { reader, chain, feed } = await feedOf();
  const exact = await deployFeed(reader, { decimals: 18 });
  chain.timeS = START_S + 10n;
  t.match(await feed.call('latestRoundData'), NO_DATA);
  t.same(await feed.read('latestAnswer'), 0n);
  const values = [
    [1_234_567_891_999_999_999n, 123_456_789n],
    [-1_234_567_891_999_999_999n, -123_456_789n],
    [9_999_999_999n, 0n],
    [-9_999_999_999n, 0n],
    [0n, 0n],
    [2n ** 127n - 1n, (2n ** 127n - 1n) / 10n ** 10n],
    [-(2n ** 127n), -(2n ** 127n / 10n ** 10n)],
  ] as const;
  for (const [i, [value, rounded]] of values.entries()) {
    t.match(await feed.call('update', [updateAt(BigInt(i), one(value))]), { ok: true });
    const round = BigInt(i + 1);
    t.same(await feed.read('latestRoundData'), [round, rounded, START_S, START_S, round]);
    t.same(await exact.read('latestRoundData'), [round, value, START_S, START_S, round]);
    t.same(await feed.read('latestAnswer'), rounded);
  }
  t.same([await feed.read('decimals'), await exact.read('decimals')], [8, 18]);
  t.same(await feed.read('description'), 'BTC / USD');
  t.same(await feed.read('version'), 1n);
  await t.rejects(deployFeed(reader, { decimals: 6 }), /UnusualDecimals/);
});

test('the time is the signed second, and never after the block', async (t) => {
  const { chain, feed, reader } = await feedOf();
  chain.timeS = START_S + 50n;
  await feed.call('update', [updateAt(999_999_999n, one(E18))]);
  t.same(await feed.read('latestTimestamp'), START_S, 'rounded down');
  chain.timeS = START_S + 70n;
  t.same(await feed.read('latestTimestamp'), START_S, 'the block is later');
  const ahead = updateAt(71n * NS_PER_S, one(2n * E18));
  t.match(await reader.call('update', [ahead]), { ok: false, error: 'AheadOfBlock' }, 'a second ahead');
  t.match(await reader.call('updatePriceFeeds', [[ahead]]), { ok: false, error: 'AheadOfBlock' });
  chain.timeS += 1n;
  t.match(await reader.call('update', [ahead]), { ok: true });
  t.same(await feed.read('latestTimestamp'), chain.timeS);
});

test('only newer payloads count, to the nanosecond', async (t) => {
  const parts = await feedOf();
  parts.chain.timeS = START_S + 5n;
  const first = updateAt(2n * NS_PER_S, one(E18));
  t.match(await parts.feed.call('update', [first]), { ok: true });
  await refuses(t, parts, NOT_NEWER!, first);
  await refuses(t, parts, NOT_NEWER!, updateAt(2n * NS_PER_S, one(3n * E18)));
  await refuses(t, parts, NOT_NEWER!, updateAt(2n * NS_PER_S - 1n, one(3n * E18)));
  t.same(await parts.feed.read('latestAnswer'), 10n ** 8n);
  t.match(await parts.feed.call('update', [updateAt(2n * NS_PER_S + 1n, one(3n * E18))]), { ok: true });
  t.same(await parts.feed.read('latestRound'), 2n);
});

test('a feed keeps the last rounds, without gaps', async (t) => {
  const { chain, feed, reader } = await feedOf({ rounds: 3 });
  chain.timeS = START_S + 50n;
  for (let i = 1n; i <= 8n; i++) {
    await reader.call('update', [updateAt(i * NS_PER_S, one(i * E18))]);
    for (let round = 0n; round <= i + 3n; round++) {
      const isKept = round > 0n && round > i - 3n && round <= i;
      const result = await feed.call('getRoundData', [round]);
      const time = START_S + round;
      if (isKept) t.match(result, { ok: true, value: [round, round * 10n ** 8n, time, time, round] });
      else t.match(result, NO_DATA, `round ${round} of ${i}`);
      t.same(await feed.read('getAnswer', round), isKept ? round * 10n ** 8n : 0n);
      t.same(await feed.read('getTimestamp', round), isKept ? time : 0n);
    }
  }
  t.match(await feed.call('getRoundData', [2n ** 80n - 1n]), NO_DATA);
  t.match(await feed.call('getRoundData', [2n ** 32n + 8n]), NO_DATA);
});

test('one round is kept in one slot', async (t) => {
  const { chain, feed } = await feedOf();
  chain.timeS = START_S + 50n;
  for (let i = 1n; i <= 3n; i++) await feed.call('update', [updateAt(i, one(i * E18))]);
  t.match(await feed.call('getRoundData', [2n]), NO_DATA);
  t.same((await feed.read<bigint[]>('getRoundData', 3n))[1], 3n * 10n ** 8n);
});

test('a closed market, old inputs and a wide spread are refused, and the last price ages', async (t) => {
  const parts = await feedOf({ needsMarketStatus: true, maxInputAgeMs: 5_000, maxSpreadPpm: 2_500 });
  const { chain, feed } = parts;
  chain.timeS = START_S + 50n;
  let ns = 0n;
  const asset = { id: 1, value: E18, status: 1, ageMs: 5_000, publishers: 3, spreadPpm: 2_500 };
  const payload = (change: object, mask = ALL) => updateAt(++ns, [{ ...asset, ...change }], { mask });
  t.match(await feed.call('update', [payload({})]), { ok: true }, 'exactly at the bounds');
  await refuses(t, parts, MARKET_CLOSED!, payload({ status: 0 }));
  await refuses(t, parts, INPUTS_TOO_OLD!, payload({ ageMs: 5_001 }));
  await refuses(t, parts, SPREAD_TOO_WIDE!, payload({ spreadPpm: 2_501 }));
  await refuses(t, parts, SPREAD_TOO_WIDE!, payload({ spreadPpm: 0xffffffff }));
  for (const mask of [PRICE, PRICE | STATUS, ALL & ~SPREAD, ALL & ~STATUS])
    await refuses(t, parts, ATTRIBUTE_MISSING!, payload({}, mask));
  await refuses(t, parts, ATTRIBUTE_MISSING!, updateAt(++ns, [asset]));
  t.same(await feed.read('latestRound'), 1n);
  for (const status of [2, 3, 255]) t.match(await feed.call('update', [payload({ status })]), { ok: true });
});

test('without terms, a closed market is refused where the payload says so', async (t) => {
  const parts = await feedOf();
  parts.chain.timeS = START_S + 50n;
  await refuses(
    t,
    parts,
    MARKET_CLOSED!,
    updateAt(1n, [{ id: 1, value: E18, status: 0 }], { mask: PRICE | STATUS }),
  );
  t.match(await parts.feed.call('update', [updateAt(2n, one(E18))]), { ok: true });
  const wide = (spreadPpm: number) =>
    updateAt(BigInt(spreadPpm), [{ id: 1, value: E18, spreadPpm }], { mask: ALL });
  await refuses(t, parts, SPREAD_TOO_WIDE!, wide(655_351));
  t.match(await parts.feed.call('update', [wide(655_350)]), { ok: true }, 'the largest that a slot keeps');
  t.match(await parts.reader.read('latestOf', 1), { spreadPpm: 655_350, publishers: 1, marketStatus: 1 });
  await t.rejects(deployReader({ maxSpreadPpm: 655_351 }), /InvalidTerms/);
  await t.rejects(deployReader({ rounds: 0 }), /InvalidTerms/);
});

test('latestAnswer is zero when the price is older than the age of the feed', async (t) => {
  const { chain, feed } = await feedOf({}, { maxAgeS: 30n });
  await feed.call('update', [updateAt(0n, one(E18))]);
  for (const [afterS, answer] of [
    [30n, 10n ** 8n],
    [31n, 0n],
  ] as const) {
    chain.timeS = START_S + afterS;
    t.same(await feed.read('latestAnswer'), answer, `${afterS} s`);
    t.same((await feed.read<bigint[]>('latestRoundData'))[1], 10n ** 8n, 'the price with its time stays');
  }
});

test('an update of many assets stores what is newer, and reverts when nothing is', async (t) => {
  const { chain, reader } = await feedOf();
  chain.timeS = START_S + 5n;
  await reader.call('update', [updateAt(2n * NS_PER_S, one(E18))]);
  const both = [...one(2n * E18), { id: 2, value: 7n * E18 }];
  t.same(await reader.read('update', updateAt(NS_PER_S, both)), 1n, 'asset 2 only');
  t.match(await reader.read('latestOf', 1), { value: E18, round: 1 });
  t.match(await reader.read('latestOf', 2), { value: 7n * E18, timestampNs: (START_S + 1n) * NS_PER_S });
  t.match(await reader.call('update', [updateAt(NS_PER_S, both)]), {
    error: 'Refused',
    args: [1, NOT_NEWER],
  });
  const closed = [
    { id: 1, value: E18, status: 0 },
    { id: 2, value: E18 },
  ];
  t.same(await reader.read('update', updateAt(3n * NS_PER_S, closed, { mask: PRICE | STATUS })), 1n);
  const missing = await reader.call('updateSome', [updateAt(4n * NS_PER_S, one(E18)), [2]]);
  t.match(missing, { error: 'AssetMissing', args: [2] });
  const three = [...one(E18), { id: 2, value: E18 }, { id: 3, value: E18 }];
  t.same(await reader.read('updateSome', updateAt(5n * NS_PER_S, three), [3, 1]), 2n);
  t.match(await reader.read('latestOf', 2), { timestampNs: (START_S + 3n) * NS_PER_S });
  t.match(await reader.read('latestOf', 3), { timestampNs: (START_S + 5n) * NS_PER_S, round: 1 });
});
