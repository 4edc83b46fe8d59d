import { test } from 'tap';
import { section } from '../../pages.js';
import { build } from './build.js';
import { Chain, type Deployed, type Hex, type Result } from './chain.js';
import { ALL, bodyOf, E18, keyOf, NS_PER_S, PRICE, quorumUpdate, STATUS, sign } from './payloads.js';
import { deployFeed, deployReader, KEY, NO_TERMS, START_S, TAXONOMY_ID, updateAt } from './reader.js';

// The gas of the contracts. The table of the page has each figure, and a bound that no change may exceed.

const BTC_ID = `0x${'080001'.padStart(64, '0')}`;
const [WBTC, USD] = [1, 840].map((n) => `0x${n.toString(16).padStart(40, '0')}`);
const QUORUMS = [
  [2, 3],
  [3, 5],
  [7, 13],
] as const;
const OPERATORS = Array.from({ length: 13 }, (_, i) => ({ id: i + 1, key: keyOf(i + 1) })).sort((a, b) =>
  a.key.address < b.key.address ? -1 : 1,
);

const assetsOf = (count: number, first = 1) =>
  Array.from({ length: count }, (_, i) => ({ id: first + i, value: BigInt(i + 1) * 100n * E18 }));

/** The measured figures, by the rows of the page. */
const measured = new Map<string, number>();

function keep(row: string, result: Result, kind: 'transactionGas' | 'executionGas' = 'transactionGas'): void {
  if (!result.ok) throw new Error(`${row} reverts with ${result.error}`);
  measured.set(row, result[kind]);
}

async function measureVerifier(): Promise<void> {
  const chain = await Chain.create();
  chain.timeS = START_S;
  const verifier = await chain.deploy(build('TicksealVerifier.sol'), [TAXONOMY_ID, 60n, 30n, [KEY.address]]);
  for (const [layout, mask] of [
    ['', undefined],
    [', with `ms`', PRICE | STATUS],
    [', with all attributes', ALL],
  ] as const)
    for (const count of [1, 10, 100]) {
      const payload = updateAt(0n, assetsOf(count), mask === undefined ? {} : { mask });
      keep(`\`verify\`, ${named(count)}${layout}`, await verifier.call('verify', [payload]));
    }
}

const named = (count: number) => (count === 1 ? '1 asset' : `${count} assets`);

/** Returns payloads of the first operators, and the streaming IDs of each asset in them. */
function votes(operators: number, assets: number, ns: bigint) {
  const voters = OPERATORS.slice(0, operators);
  const payloads = voters.map(({ id, key }, i) => {
    const values = assetsOf(assets, 50 * id).map((asset) => ({ ...asset, value: asset.value + BigInt(i) }));
    const timestampNs = START_S * NS_PER_S + ns + BigInt(i);
    return sign(bodyOf({ taxonomyId: id, timestampNs, assets: values }), key);
  });
  return { voters, payloads };
}

async function addSigners(contract: Deployed, count: number): Promise<void> {
  for (const { id, key } of OPERATORS.slice(0, count))
    await contract.call('setSigner', [key.address, id, id, 2n ** 64n - 1n]);
}

async function measureQuorum(): Promise<void> {
  const chain = await Chain.create();
  chain.timeS = START_S;
  const [quorumCode, readerCode] = [build('TicksealQuorum.sol'), build('TicksealQuorumReader.sol')];
  for (const [threshold, operators] of QUORUMS) {
    const rules = { threshold, maxSpreadPpm: 10_000, maxAgeS: 60, maxFutureS: 5 };
    const quorum = await chain.deploy(quorumCode, [rules]);
    await addSigners(quorum, operators);
    for (const assets of [1, 10]) {
      const { voters, payloads } = votes(threshold, assets, 0n);
      const ids = Array.from({ length: assets }, (_, i) => voters.map(({ id }) => 50 * id + i));
      const hex = payloads.map((payload): Hex => `0x${payload.toString('hex')}`);
      const row = `\`pricesOf\`, ${threshold} of ${operators}, ${named(assets)}`;
      keep(row, await quorum.call('pricesOf', [hex, ids]));
    }
    const reader = await chain.deploy(readerCode, [rules, NO_TERMS]);
    await addSigners(reader, operators);
    for (const { id } of OPERATORS) await reader.call('setStreamingId', [1, id, 50 * id]);
    const update = (ns: bigint) =>
      reader.call('update', [quorumUpdate([1], votes(threshold, 1, ns).payloads)]);
    await update(0n);
    keep(`\`update\` of a quorum, ${threshold} of ${operators}, 1 asset`, await update(1_000n));
  }
}

async function measureReader(): Promise<void> {
  const reader = await deployReader();
  reader.chain.timeS = START_S + 10n;
  const feed = await deployFeed(reader);
  let ns = 0n;
  const next = (count: number) => updateAt(++ns, assetsOf(count));
  for (const count of [1, 10, 100]) {
    const other = count === 1 ? reader : await deployReader({}, reader.chain);
    keep(`\`update\`, ${named(count)}, first price`, await other.call('update', [next(count)]));
    keep(`\`update\`, ${named(count)}`, await other.call('update', [next(count)]));
  }
  keep('`updateSome`, 1 of 100 assets', await reader.call('updateSome', [next(100), [1]]));
  keep('`update` of a feed', await feed.call('update', [next(1)]));
  const withRounds = await deployReader({ rounds: 2 }, reader.chain);
  for (let i = 0; i < 3; i++) {
    const result = await withRounds.call('update', [next(1)]);
    if (i === 2) keep('`update`, 1 asset, a former round is kept', result);
  }
  await reader.call('setToken', [WBTC, 1, 1, 8]);
  await reader.call('setToken', [USD, 2, 0, 18]);
  for (const [row, contract, name, args] of [
    ['`latestRoundData`', feed, 'latestRoundData', []],
    ['`latestAnswer`', feed, 'latestAnswer', []],
    ['`getPriceNoOlderThan`', reader, 'getPriceNoOlderThan', [BTC_ID, 60n]],
    ['`getQuote`', reader, 'getQuote', [10n ** 8n, WBTC, USD]],
  ] as const)
    keep(`${row}, execution`, await contract.call(name, args), 'executionGas');
}

test('the gas of each call is on the page, and within its bound', async (t) => {
  await measureVerifier();
  await measureQuorum();
  await measureReader();
  const rows = section('src/client/solidity/README.md', 'Gas').matchAll(
    /^\| (.*?) \| ([^|]*) \| ([\d,]+) \| ([\d,]+) \|/gm,
  );
  const page = new Map(
    [...rows].map(([, row = '', , now = '', bound = '']) => [
      row,
      { now: figure(now), bound: figure(bound) },
    ]),
  );
  t.same([...page.keys()], [...measured.keys()], 'the rows of the page');
  for (const [row, gas] of measured) {
    t.comment(`${row}: ${gas}`);
    const { now, bound } = page.get(row) ?? { now: 0, bound: 0 };
    t.ok(gas <= bound, `${row}: ${gas} gas, at most ${bound}`);
    t.ok(Math.abs(gas - now) <= 100 + now / 200, `${row}: ${gas} gas, ${now} on the page`);
  }
});

function figure(text: string): number {
  return Number(text.replaceAll(',', ''));
}
