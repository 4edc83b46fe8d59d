import { test } from 'tap';
import { build } from './build.js';
import { Chain } from './chain.js';
import {
  AGE,
  ALL,
  bodyOf,
  hexOf,
  keyOf,
  PRICE,
  PUBLISHERS,
  payloadOf,
  SPREAD,
  STATUS,
  sign,
} from './payloads.js';

// Tests of the attributes of versioned payloads: every mask of the bits 0 to 4.

const NOW_S = 1_800_000_000n;
const KEY = keyOf(1);
const code = build('TicksealVerifier.sol');
const ASSETS = [
  { id: 1, value: -(2n ** 127n), status: 0, ageMs: 0, publishers: 255, spreadPpm: 0xffffffff },
  { id: 2, value: 2n ** 127n - 1n, status: 255, ageMs: 0xffffffff, publishers: 0, spreadPpm: 1 },
  { id: 65_535, value: 0n, status: 3, ageMs: 1_234, publishers: 7, spreadPpm: 250 },
];

async function verifierOf() {
  const chain = await Chain.create();
  chain.timeS = NOW_S;
  return chain.deploy(code, [7, 60n, 30n, [KEY.address]]);
}

const contentOf = (mask: number) => ({
  taxonomyId: 7,
  timestampNs: NOW_S * 1_000_000_000n,
  mask,
  assets: ASSETS,
});

test('every mask of the bits 0 to 4 is decoded', async (t) => {
  const verifier = await verifierOf();
  for (let mask = 1; mask <= ALL; mask += 2) {
    const payload = payloadOf(KEY, contentOf(mask));
    const expected = ASSETS.map(({ id, value, status, ageMs, publishers, spreadPpm }) => ({
      assetId: id,
      value,
      marketStatus: mask & STATUS ? status : 255,
      attributes: mask,
      ageMs: mask & AGE ? ageMs : 0,
      publishers: mask & PUBLISHERS ? publishers : 0,
      spreadPpm: mask & SPREAD ? spreadPpm : 0,
    }));
    t.same(await verifier.read('verify', payload), [NOW_S * 1_000_000_000n, expected], `mask ${mask}`);
    for (const one of expected)
      t.same(await verifier.read('priceOf', payload, one.assetId), [NOW_S * 1_000_000_000n, one]);
  }
});

test('masks without a price or with other bits are refused', async (t) => {
  const verifier = await verifierOf();
  for (const mask of [0, 2, STATUS | SPREAD, 0x20 | PRICE, 0x8001, 0xffff])
    t.match(await verifier.call('verify', [payloadOf(KEY, contentOf(mask))]), {
      ok: false,
      error: 'UnknownAttributes',
      args: [mask],
    });
});

test('a payload is never read with another mask than its own', async (t) => {
  const verifier = await verifierOf();
  for (const mask of [PRICE, PRICE | STATUS, ALL]) {
    const payload = sign(bodyOf(contentOf(mask)), KEY);
    for (let other = 1; other <= ALL; other += 2) {
      if (other === mask) continue;
      payload.writeUInt16BE(other, 67);
      const result = await verifier.call('verify', [hexOf(payload)]);
      t.match(result, {
        ok: false,
        error: /^(?:WrongLength|UnorderedAssets|UnknownSigner|InvalidSignature)$/,
      });
    }
  }
});
