import { test } from 'tap';
import type { Price } from '../../../src/model/price.js';
import { Feed } from '../../service/feed.js';
import { startTestService, TestSocket } from '../../service/harness.js';
import { build } from './build.js';
import { Chain, type Deployed, type Hex } from './chain.js';
import { NATIVE_ECRECOVER } from './native_ecrecover.js';
import * as payloads from './payloads.js';

const { AGE, ALL, E18, keyOf, NS_PER_S, PRICE, PUBLISHERS, payloadOf, SPREAD, STATUS } = payloads;
const TAXONOMY_ID = 7;
const NOW_S = 1_800_000_000n;
const [MAX_AGE_S, MAX_FUTURE_S] = [60n, 30n];
const KEY = keyOf(1);
const [HEIR, STRANGER] = [`0x${'22'.repeat(20)}`, `0x${'33'.repeat(20)}`];
const NOBODY = `0x${'00'.repeat(20)}`;
const code = build('TicksealVerifier.sol');

async function verifierOf(signers: readonly string[] = [KEY.address], taxonomyId = TAXONOMY_ID) {
  const chain = await Chain.create([NATIVE_ECRECOVER]);
  chain.timeS = NOW_S;
  return chain.deploy(code, [taxonomyId, MAX_AGE_S, MAX_FUTURE_S, signers]);
}

interface Entry {
  readonly assetId: number;
  readonly value: bigint;
  readonly marketStatus: number;
}

const ASSETS = Array.from({ length: 100 }, (_, i) => ({
  id: 10 * i + 1,
  symbol: `ASSET${i}`,
  ...(i % 3 === 0 && { calendar: 'forex' }),
}));
/** Prices of both signs, and both ends of the int128 range. */
const PRICES = ASSETS.map((_, i) => (i % 2 === 0 ? 1n : -1n) * BigInt(i + 1) * E18);
PRICES[0] = 2n ** 127n - 1n;
PRICES[1] = -(2n ** 127n);

test('payloads of both layouts from a running service', async (t) => {
  const service = await startTestService(t, { service: { taxonomy_id: TAXONOMY_ID }, assets: ASSETS });
  const feed = await Feed.open(service);
  await feed.accept(...ASSETS.map(({ symbol }, i) => ({ symbol, price: PRICES[i] as Price })));
  const verifier = await verifierOf([service.evmAddress]);
  for (const [attributes, mask, count] of [
    ['', PRICE, 100],
    ['&addtl_attrs=ms,age,n,spread', ALL, 14],
    ['&addtl_attrs=ms,age,n,spread', ALL, 100],
  ] as const) {
    const url = `${service.socketUrl}/ws?channel=10ms&message_type=signed_ecdsa${attributes}`;
    const socket = await TestSocket.open(url);
    socket.send({ type: 'subscribe', assets: ASSETS.slice(0, count).map(({ id }) => id) });
    const { p } = (await socket.nextJson()) as { p: Hex };
    await socket.close();
    const timestampNs = Buffer.from(p.slice(2), 'hex').readBigUInt64BE(mask === PRICE ? 67 : 71);
    verifier.chain.timeS = timestampNs / NS_PER_S;
    const [time, entries] = await verifier.read<[bigint, Entry[]]>('verify', p);
    t.equal(time, timestampNs);
    t.equal(entries.length, count);
    for (const [i, { marketStatus, ...entry }] of entries.entries()) {
      t.match(entry, { assetId: ASSETS[i]!.id, value: PRICES[i], attributes: mask, spreadPpm: 0 });
      t.equal(marketStatus !== 255, mask !== PRICE && i % 3 === 0, 'status');
      t.match(entry, { publishers: mask === ALL ? 1 : 0 });
    }
  }
});

const EXTREMES = [
  { id: 1, value: -(2n ** 127n), status: 0, ageMs: 0, publishers: 255, spreadPpm: 0xffffffff },
  { id: 2, value: 2n ** 127n - 1n, status: 255, ageMs: 0xffffffff, publishers: 0, spreadPpm: 1 },
  { id: 65_535, value: 0n, status: 3, ageMs: 1_234, publishers: 7, spreadPpm: 250 },
];
const contentOf = (change: Partial<payloads.Content> = {}) => ({
  taxonomyId: TAXONOMY_ID,
  timestampNs: NOW_S * NS_PER_S,
  assets: EXTREMES,
  ...change,
});
const payload = (change: Partial<payloads.Content> = {}) => payloadOf(KEY, contentOf(change));

test('every mask of the bits 0 to 4 is decoded', async (t) => {
  const verifier = await verifierOf();
  for (let mask = 1; mask <= ALL; mask += 2) {
    const signed = payload({ mask });
    const expected = EXTREMES.map(({ id, value, status, ageMs, publishers, spreadPpm }) => ({
      assetId: id,
      value,
      marketStatus: mask & STATUS ? status : 255,
      attributes: mask,
      ageMs: mask & AGE ? ageMs : 0,
      publishers: mask & PUBLISHERS ? publishers : 0,
      spreadPpm: mask & SPREAD ? spreadPpm : 0,
    }));
    t.same(await verifier.read('verify', signed), [NOW_S * NS_PER_S, expected], `mask ${mask}`);
    for (const one of expected)
      t.same(await verifier.read('priceOf', signed, one.assetId), [NOW_S * NS_PER_S, one]);
  }
});

test('each wrong payload is refused with its reason', async (t) => {
  const verifier = await verifierOf();
  const cut = (bytes: number) => payload().slice(0, 2 + 2 * bytes) as Hex;
  const at = (s: bigint) => payload({ timestampNs: (NOW_S + s) * NS_PER_S });
  const ids = (...of: number[]) => payload({ assets: of.map((id) => ({ id, value: 1n })) });
  const refused: [what: string, error: string, payload: Hex][] = [
    ['another signer', 'UnknownSigner', payloadOf(keyOf(2), contentOf())],
    ['another taxonomy', 'WrongTaxonomy', payload({ taxonomyId: 8 })],
    ['no entry', 'WrongLength', cut(75)],
    ['another version', 'UnknownVersion', payload({ mask: ALL }).replace('ff02', 'ff03') as Hex],
    ...[0, 2, 0x20 | PRICE, 0x8001].map((mask): [string, string, Hex] => [
      `mask ${mask}`,
      'UnknownAttributes',
      payload({ mask }),
    ]),
    ['a second too old', 'TooOld', at(-MAX_AGE_S - 1n)],
    ['a second too far ahead', 'InTheFuture', at(MAX_FUTURE_S + 1n)],
    ['an ID twice', 'UnorderedAssets', ids(1, 1)],
    ['IDs in another order', 'UnorderedAssets', ids(1, 7, 2)],
  ];
  for (const [what, error, wrong] of refused)
    t.match(await verifier.call('verify', [wrong]), { ok: false, error }, what);
  for (const id of [1, 7, 2])
    t.match(await verifier.call('priceOf', [ids(1, 7, 2), id]), { error: 'UnorderedAssets' });
  for (const id of [0, 3])
    t.match(await verifier.call('priceOf', [payload(), id]), { error: 'AssetMissing' });
  for (const edge of [at(-MAX_AGE_S), at(MAX_FUTURE_S)])
    t.match(await verifier.call('verify', [edge]), { ok: true });
});

test('the owner changes the signers, and hands the contract over in two steps', async (t) => {
  const verifier = await verifierOf([]);
  const setSigner = (isAccepted: boolean, caller?: string) =>
    verifier.call('setSigner', [KEY.address, isAccepted], caller);
  const verified = async () => (await verifier.call('verify', [payload()])).ok;
  t.match(await setSigner(true, STRANGER), { error: 'NotOwner' });
  t.equal(await verified(), false);
  await setSigner(true);
  t.equal(await verified(), true);
  await setSigner(false);
  t.equal(await verified(), false);

  const transfer = (to: string, caller?: string) => verifier.call('transferOwnership', [to], caller);
  const accept = (caller: string) => verifier.call('acceptOwnership', [], caller);
  t.match(await transfer(HEIR, STRANGER), { error: 'NotOwner' });
  t.match(await transfer(NOBODY), { error: 'InvalidOwner' });
  t.match(await transfer(HEIR), { ok: true });
  t.match(await accept(STRANGER), { error: 'NotPendingOwner' });
  t.match(await setSigner(true, HEIR), { error: 'NotOwner' }, 'until the heir accepts nothing has changed');
  t.match(await accept(HEIR), { ok: true });
  t.same([await verifier.read('owner'), await verifier.read('pendingOwner')], [HEIR, NOBODY]);
  t.match(await setSigner(true), { error: 'NotOwner' });
  t.match(await setSigner(true, HEIR), { ok: true });
  t.match(await accept(HEIR), { error: 'NotPendingOwner' }, 'once');
});

test('a taxonomy whose simplified payloads start with the magic byte is refused', async (t) => {
  await t.rejects(verifierOf([], 0xff00), /AmbiguousTaxonomy/);
  await t.resolves(verifierOf([], 0xfeff) as Promise<Deployed>);
});
