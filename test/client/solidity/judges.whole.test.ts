import { test } from 'tap';
import { build } from './build.js';
import type { Chain, Deployed } from './chain.js';
import { ALL, E18, NS_PER_S } from './payloads.js';
import { deployFeed, deployReader, START_S, updateAt } from './reader.js';

// Contracts that others wrote read the prices of this project: Aave's oracle, contracts of Chainlink, and contracts of Pyth's SDK.

const ZERO = `0x${'00'.repeat(20)}`;
const BTC_TOKEN = `0x${'b1'.repeat(20)}`;
const EUR_TOKEN = `0x${'e2'.repeat(20)}`;
const BTC = 1;
const EUR = 2;
const [BTC_ID, EUR_ID] = [BTC, EUR].map(
  (asset) => `0x${`08${asset.toString(16).padStart(4, '0')}`.padStart(64, '0')}`,
);

const both = (btc: bigint, eur: bigint) => [
  { id: BTC, value: btc, spreadPpm: 100 },
  { id: EUR, value: eur, spreadPpm: 0 },
];

async function market(): Promise<{ chain: Chain; reader: Deployed; btc: Deployed; eur: Deployed }> {
  const reader = await deployReader({ rounds: 4 });
  reader.chain.timeS = START_S + 10n;
  const [btc, eur] = [
    await deployFeed(reader, { assetId: BTC, maxAgeS: 3_600n }),
    await deployFeed(reader, { assetId: EUR, maxAgeS: 3_600n }),
  ];
  return { chain: reader.chain, reader, btc, eur };
}

const at = (s: bigint, btc = 95_000n * E18, eur = (11n * E18) / 10n) =>
  updateAt(s * NS_PER_S, both(btc, eur), { mask: ALL });

test('AaveOracle reads two assets, and its fallback where there is no good price', async (t) => {
  const { chain, reader, btc, eur } = await market();
  const oracleCode = build('@aave/core-v3/contracts/misc/AaveOracle.sol');
  const fallback = await chain.deploy(build('@aave/core-v3/contracts/mocks/oracle/PriceOracle.sol'));
  for (const [token, price] of [
    [BTC_TOKEN, 1n],
    [EUR_TOKEN, 2n],
  ] as const)
    await fallback.call('setAssetPrice', [token, price]);
  const sources = [btc.address, eur.address];
  const oracle = await chain.deploy(oracleCode, [
    ZERO,
    [BTC_TOKEN, EUR_TOKEN],
    sources,
    fallback.address,
    ZERO,
    10n ** 8n,
  ]);
  const prices = () => oracle.read('getAssetsPrices', [BTC_TOKEN, EUR_TOKEN, ZERO]);
  t.same(await prices(), [1n, 2n, 10n ** 8n], 'before the first update');
  await reader.call('update', [at(0n)]);
  t.same(await prices(), [95_000n * 10n ** 8n, 11n * 10n ** 7n, 10n ** 8n]);
  await reader.call('update', [at(1n, -E18, 0n)]);
  t.same(await prices(), [1n, 2n, 10n ** 8n], 'a negative and a zero price');
  await reader.call('update', [at(2n)]);
  chain.timeS += 3_592n;
  t.same(await prices(), [95_000n * 10n ** 8n, 11n * 10n ** 7n, 10n ** 8n]);
  chain.timeS += 1n;
  t.same(await prices(), [1n, 2n, 10n ** 8n], 'older than the age of the feeds');
});

test('a consumer of Chainlink’s interfaces reads every function of a feed', async (t) => {
  const { chain, reader, btc } = await market();
  const consumer = await chain.deploy(build('@chainlink/contracts/src/v0.8/tests/FeedConsumer.sol'), [
    btc.address,
  ]);
  t.match(await consumer.call('latestRoundData'), { ok: false });
  t.same(await consumer.read('latestAnswer'), 0n);
  for (const s of [0n, 2n]) await reader.call('update', [at(s)]);
  const round = [2n, 95_000n * 10n ** 8n, START_S + 2n, START_S + 2n, 2n];
  t.same(await consumer.read('latestRoundData'), round);
  t.same(await consumer.read('getRoundData', 2n), round);
  t.same((await consumer.read<bigint[]>('getRoundData', 1n))[3], START_S);
  t.match(await consumer.call('getRoundData', [3n]), { ok: false });
  t.same(await consumer.read('latestRound'), 2n);
  t.same(await consumer.read('latestTimestamp'), START_S + 2n);
  t.same(await consumer.read('getAnswer', 1n), 95_000n * 10n ** 8n);
  t.same(await consumer.read('getTimestamp', 1n), START_S);
  t.same(await consumer.read('decimals'), 8);
  t.same(await consumer.read('version'), 1n);
  t.same(await consumer.read('description'), 'BTC / USD');
});

test('PythAggregatorV3 and PythUtils read a reader as IPyth', async (t) => {
  const { chain, reader } = await market();
  await reader.call('update', [at(0n)]);
  const sdk = '@pythnetwork/pyth-sdk-solidity';
  const aggregator = await chain.deploy(build(`${sdk}/PythAggregatorV3.sol`), [reader.address, BTC_ID]);
  t.same(await aggregator.read('decimals'), 8);
  t.same(await aggregator.read('latestAnswer'), 95_000n * 10n ** 8n);
  t.match(await aggregator.call('updateFeeds', [[at(3n, 96_000n * E18)]]), { ok: true });
  t.same(await aggregator.read('latestRoundData'), [
    START_S + 3n,
    96_000n * 10n ** 8n,
    START_S + 3n,
    START_S + 3n,
    START_S + 3n,
  ]);
  // The checks of the SDK's README and of its users: age, sign, exponent and confidence.
  const text = `
    // SPDX-License-Identifier: Apache-2.0
    pragma solidity ^0.8.0;
    import "${sdk}/IPyth.sol";
    import "${sdk}/PythUtils.sol";
    contract Consumer {
      IPyth immutable pyth;
      constructor(IPyth pyth_) { pyth = pyth_; }
      function priceOf(bytes32 id, bytes[] calldata data) external payable returns (uint256) {
        pyth.updatePriceFeeds{value: pyth.getUpdateFee(data)}(data);
        PythStructs.Price memory price = pyth.getPriceNoOlderThan(id, 60);
        require(price.price > 0 && price.expo <= 0 && price.expo >= -18, "price");
        require(price.conf * 1000 <= uint64(price.price), "conf");
        return PythUtils.convertToUint(price.price, price.expo, 18);
      }
    }`;
  const utils = await chain.deploy(build(`${sdk}/PythUtils.sol`));
  const libraries = { [`${sdk}/PythUtils.sol`]: { PythUtils: utils.address } };
  const consumer = await chain.deploy(build('Consumer.sol', 'Consumer', { text, libraries }), [
    reader.address,
  ]);
  t.same(await consumer.read('priceOf', BTC_ID, [at(4n)]), 95_000n * E18);
  t.same(await consumer.read('priceOf', EUR_ID, []), (11n * E18) / 10n);
  const wide = [{ id: BTC, value: E18, spreadPpm: 1_010 }];
  await reader.call('update', [updateAt(6n * NS_PER_S, wide, { mask: ALL })]);
  t.match(await consumer.call('priceOf', [BTC_ID, []]), { error: 'Error', args: ['conf'] });
  chain.timeS = START_S + 67n;
  t.match(
    await consumer.call('priceOf', [BTC_ID, []]),
    { ok: false, error: '0x19abf40e' },
    'StalePrice of PythErrors',
  );
});
