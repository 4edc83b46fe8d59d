import { test } from 'tap';
import { build } from './build.js';
import { Chain, type Deployed, type Hex } from './chain.js';
import { ALL, bodyOf, E18, keyOf, NS_PER_S, PRICE, quorumUpdate, STATUS, sign } from './payloads.js';
import { deployFeed, deployReader, NO_TERMS, START_S, updateAt } from './reader.js';

// Tests of IPyth, of ERC-7726, and of a reader over a quorum.

const OTHER = `0x${'22'.repeat(20)}`;
const BTC = 1;
const EUR = 2;
const PEPE = 3;

const idOf = (assetId: number, decimals: number): Hex =>
  `0x${((decimals << 16) | assetId).toString(16).padStart(64, '0')}`;
const priceOf = (price: bigint, conf: bigint, expo: number, publishTime: bigint) => ({
  price,
  conf,
  expo,
  publishTime,
});

async function readerAt(afterS: bigint, terms = {}): Promise<Deployed> {
  const reader = await deployReader(terms);
  reader.chain.timeS = START_S + afterS;
  return reader;
}

test('IPyth: price, conf, exponent and time', async (t) => {
  const reader = await readerAt(10n);
  const value = 95_123_456_789_012_345_678_901n;
  const assets = [
    { id: BTC, value, spreadPpm: 251 },
    { id: EUR, value: -value, spreadPpm: 0 },
    { id: PEPE, value: 12_345_678_901_234n, spreadPpm: 1 },
  ];
  await reader.call('update', [updateAt(1_999_999_999n, assets, { mask: ALL })]);
  const time = START_S + 1n;
  // 260 millionths of 95,123.456789012345678901 are 24.73209876514320987…, rounded up.
  const expected = priceOf(9_512_345_678_901n, 2_473_209_877n, -8, time);
  t.same(await reader.read('getPriceUnsafe', idOf(BTC, 8)), expected);
  t.same(await reader.read('getPriceUnsafe', idOf(BTC, 0)), priceOf(95_123n, 25n, 0, time));
  t.same(await reader.read('getPriceUnsafe', idOf(EUR, 8)), priceOf(-9_512_345_678_901n, 0n, -8, time));
  t.same(
    await reader.read('getPriceUnsafe', idOf(PEPE, 18)),
    priceOf(12_345_678_901_234n, 123_456_790n, -18, time),
  );
  t.match(await reader.call('getPriceUnsafe', [idOf(BTC, 18)]), { error: 'PriceOutOfRange' });
  for (const id of [idOf(9, 8), idOf(BTC, 19), `0x${'01'.padEnd(64, '0')}`, `0x${'ff'.repeat(32)}`]) {
    t.match(await reader.call('getPriceUnsafe', [id]), { error: 'PriceFeedNotFound' }, id);
    t.same(await reader.read('priceFeedExists', id), false);
  }
  t.same(await reader.read('priceFeedExists', idOf(BTC, 8)), true);
});

test('IPyth: updates cost nothing, never go back, and are refused when nothing is needed', async (t) => {
  const reader = await readerAt(10n);
  const at = (s: bigint) => updateAt(s * NS_PER_S, [{ id: BTC, value: (s + 1n) * E18 }]);
  t.same(await reader.read('getUpdateFee', [at(1n)]), 0n);
  await reader.call('updatePriceFeeds', [[at(2n), at(1n), at(2n)]]);
  t.match(await reader.read('latestOf', BTC), { value: 3n * E18, round: 1 });
  const need = (s: bigint, times: bigint[]) =>
    reader.call('updatePriceFeedsIfNecessary', [[at(s)], [idOf(BTC, 8)], times]);
  t.match(await need(5n, [START_S + 2n]), { error: 'NoFreshUpdate' });
  t.match(await need(5n, []), { error: 'InvalidArgument' });
  t.match(await need(5n, [START_S + 3n]), { ok: true });
  t.match(await reader.read('latestOf', BTC), { value: 6n * E18, round: 2 });
});

test('IPyth: parsed updates are verified and not stored', async (t) => {
  const reader = await readerAt(10n, { needsMarketStatus: true });
  const at = (s: bigint, status = 1) =>
    updateAt(
      s * NS_PER_S,
      [
        { id: BTC, value: E18 },
        { id: EUR, value: 2n * E18, status },
      ],
      {
        mask: PRICE | STATUS,
      },
    );
  const parse = (updates: Hex[], ids: Hex[], from: bigint, to: bigint) =>
    reader.call('parsePriceFeedUpdates', [updates, ids, START_S + from, START_S + to]);
  const ids = [idOf(EUR, 8), idOf(BTC, 2)];
  const none = { error: 'PriceFeedNotFoundWithinRange' };
  t.match(await parse([at(1n), at(5n)], ids, 2n, 9n), {
    value: [
      { id: ids[0], price: priceOf(2n * 10n ** 8n, 0n, -8, START_S + 5n) },
      { id: ids[1], price: priceOf(100n, 0n, -2, START_S + 5n) },
    ],
  });
  t.match(await parse([at(1n)], ids, 2n, 9n), none, 'before');
  t.match(await parse([at(3n)], ids, 1n, 2n), none, 'after');
  t.match(await parse([at(1n)], [idOf(9, 8)], 0n, 9n), none, 'another asset');
  t.match(await parse([at(1n, 0)], ids, 0n, 9n), none, 'a closed market');
  const unasked = updateAt(NS_PER_S, [{ id: BTC, value: E18 }]);
  t.match(await parse([unasked], [idOf(BTC, 8)], 0n, 9n), none, 'without the status that the terms ask for');
  t.match(await reader.read('latestOf', BTC), { round: 0 });
});

test('ERC-7726: quotes are rounded down, between tokens of any decimals', async (t) => {
  const reader = await readerAt(60n);
  const [wbtc, eurs, usd, usdc, none] = [1, 2, 840, 4, 5].map((n) => `0x${n.toString(16).padStart(40, '0')}`);
  const set = (token: unknown, kind: number, assetId: number, decimals: number, from?: string) =>
    reader.call('setToken', [token, kind, assetId, decimals], from);
  t.match(await set(wbtc, 1, BTC, 8, OTHER), { error: 'NotOwner' });
  t.match(await set(wbtc, 1, BTC, 37), { error: 'TooManyDecimals' });
  for (const [token, kind, assetId, decimals] of [
    [wbtc, 1, BTC, 8],
    [eurs, 1, EUR, 2],
    [usd, 2, 0, 18],
    [usdc, 2, 0, 6],
  ] as const)
    t.match(await set(token, kind, assetId, decimals), { ok: true });
  const quote = (amount: bigint, base: unknown, to: unknown) => reader.call('getQuote', [amount, base, to]);
  t.match(await quote(1n, wbtc, usd), { error: 'OracleUntrustedData', args: [wbtc, usd] });
  const prices = [
    { id: BTC, value: 95_000n * E18 + 1n },
    { id: EUR, value: (11n * E18) / 10n },
  ];
  await reader.call('update', [updateAt(0n, prices)]);
  for (const [amount, base, to, worth] of [
    [10n ** 8n, wbtc, usd, 95_000n * E18 + 1n],
    [10n ** 8n, wbtc, usdc, 95_000_000_000n],
    [10n ** 8n, wbtc, eurs, 8_636_363n],
    [E18, usd, wbtc, 1_052n],
    [10n ** 6n, usdc, usd, E18],
    [1n, usd, usdc, 0n],
  ] as const)
    t.match(await quote(amount, base, to), { ok: true, value: worth }, `${amount}`);
  t.match(await quote(1n, wbtc, none), { error: 'OracleUnsupportedPair', args: [wbtc, none] });
  t.match(await quote(2n ** 255n, wbtc, usd), { ok: false }, 'too large for 256 bits');
  reader.chain.timeS += 1n;
  t.match(await quote(1n, wbtc, usd), { error: 'OracleUntrustedData' }, 'a second too old');
  for (const value of [0n, -E18]) {
    await reader.call('update', [updateAt(NS_PER_S - value, [{ id: BTC, value }])]);
    t.match(await quote(1n, wbtc, usd), { error: 'OracleUntrustedData' }, `${value}`);
    t.match(await quote(E18, usd, wbtc), { error: 'OracleUntrustedData' }, `${value}`);
  }
  await set(wbtc, 0, 0, 0);
  t.match(await quote(1n, wbtc, usd), { error: 'OracleUnsupportedPair' });
});

const OPERATORS = [1, 2, 3]
  .map((id) => ({ id, key: keyOf(id) }))
  .sort((a, b) => (a.key.address < b.key.address ? -1 : 1));

interface Vote {
  readonly value?: bigint;
  readonly timeS?: bigint;
  readonly mask?: number;
  readonly status?: number;
  readonly spreadPpm?: number;
}

/** Returns an update of asset 900, whose streaming ID at an operator is the operator's number times 10. */
function voted(votes: readonly Vote[], assets = [900]): Hex {
  const payloads = votes.map(({ value = 100n * E18, timeS = START_S, mask, ...rest }, i) => {
    const { id, key } = OPERATORS[i]!;
    const content = {
      taxonomyId: id,
      timestampNs: timeS * NS_PER_S,
      ...(mask !== undefined && { mask }),
      assets: [{ id: id * 10, value, ...rest }],
    };
    return sign(bodyOf(content), key);
  });
  return quorumUpdate(assets, payloads);
}

test('a reader over a quorum keeps the prices on which operators agree', async (t) => {
  const chain = await Chain.create();
  chain.timeS = START_S + 5n;
  const rules = { threshold: 2, maxSpreadPpm: 10_000, maxAgeS: 60, maxFutureS: 5 };
  const reader = await chain.deploy(build('TicksealQuorumReader.sol'), [rules, { ...NO_TERMS, rounds: 2 }]);
  const feed = await deployFeed(reader, { assetId: 900, decimals: 18 });
  for (const { id, key } of OPERATORS) {
    await reader.call('setSigner', [key.address, id, id, 2n ** 64n - 1n]);
    t.match(await reader.call('setStreamingId', [900, id, id * 10], OTHER), { error: 'NotOwner' });
    await reader.call('setStreamingId', [900, id, id * 10]);
  }
  t.match(await feed.call('update', [voted([{}, { value: 101n * E18 }])]), { ok: true });
  t.match(await reader.read('latestOf', 900), {
    value: (201n * E18) / 2n,
    spreadPpm: 10_000,
    marketStatus: 255,
    publishers: 0,
  });
  t.match(await reader.call('update', [voted([{}, { value: 102n * E18 }])]), { error: 'PricesApart' });
  t.match(await reader.call('update', [voted([{}, {}], [901])]), { error: 'UnmappedAsset' });
  t.match(await reader.call('update', [voted([{}, {}])]), { error: 'Refused', args: [900, 1] });
  const later = { timeS: START_S + 1n, mask: ALL, spreadPpm: 30 };
  t.match(await reader.call('update', [voted([later, { ...later, status: 0 }, later])]), { args: [900, 3] });
  t.match(await reader.call('update', [voted([later, later, { ...later, spreadPpm: 40 }])]), { ok: true });
  t.match(await reader.read('latestOf', 900), { spreadPpm: 40, marketStatus: 1, publishers: 1, round: 2 });
  t.same(await feed.read('latestRoundData'), [2n, 100n * E18, START_S + 1n, START_S + 1n, 2n]);
  t.same((await feed.read<bigint[]>('getRoundData', 1n))[1], (201n * E18) / 2n);
  for (const operator of [0, 257])
    t.match(await reader.call('setStreamingId', [1, operator, 1]), { error: 'InvalidSigner' });
});
