import { Point, pedersen, Signature, sign, verify } from '@scure/starknet';
import fc from 'fast-check';
import { test } from 'tap';
import { Pedersen } from '../../../src/crypto/stark/pedersen.js';
import {
  fieldBytes,
  fieldNumber,
  type StarkMessage,
  starkPriceMessage,
} from '../../../src/crypto/stark/stark.js';
import { FIELD_PRIME, GROUP_ORDER } from '../../../src/crypto/stark/stark_curve.js';
import {
  type StarkClaim,
  StarkVerifier,
  starkPublicKey,
  starkSign,
  starkSignMessage,
} from '../../../src/crypto/stark/stark_ecdsa.js';
import type { Price } from '../../../src/model/price.js';
import type { TimeNs } from '../../../src/model/time.js';
import { cases } from '../../tier.js';

const LIMIT = 2n ** 251n;
const KEY = 0x66253bdeb3c1a235cf4376611e3a14474e2c00fd2fb225f9a388faae7fb095an;
const TIME = 1708940577123456789n as TimeNs;

const KEY_OFF_CURVE = [5n, 6n, 7n, 8n, 9n, 10n].find((x) => !isOnCurve(x))!;

const hasher = new Pedersen();
const verifier = new StarkVerifier(hasher);

const text = (number: bigint): string => number.toString(16).padStart(64, '0');

function messageOf(price: bigint, time: bigint = TIME): StarkMessage {
  return starkPriceMessage('DYDXUSD', 'czowx', time as TimeNs, price as Price)!;
}

function claimOf(message: StarkMessage, key: bigint): StarkClaim {
  return { ...message, ...starkSignMessage(hasher, message, key), publicKey: starkPublicKey(key) };
}

/** Returns the verdict of the plain library. The claim is valid if either of the two points with the key's x signed it. */
function plainVerdict(claim: StarkClaim): boolean {
  const hash = fieldNumber(claim.msgHash);
  if (BigInt(pedersen(claim.x, claim.y)) !== hash) return false;
  return ['02', '03'].some((parity) => {
    try {
      const signature = new Signature(fieldNumber(claim.r), fieldNumber(claim.s));
      return verify(signature, text(hash), parity + text(fieldNumber(claim.publicKey)));
    } catch {
      return false;
    }
  });
}

test('public key, hash and signature of a real vector', async (t) => {
  const claim = claimOf(messageOf(3335950349880000000n), KEY);
  t.equal(fieldNumber(claim.publicKey), 0x418d3fd8219a2cf32a00d458f61802d17f01c5bcde5a4f82008ee4a7c8e9a06n);
  t.equal(fieldNumber(claim.msgHash), 0x7cc1cf795d076cfff8b5920adb2dcc0d13813ed4519220a36d693e6084abe1cn);
  t.equal(fieldNumber(claim.r), 0x60bbbb4142bca69a5278ecccb59964e3449e43915b02e5c729b9752a16309acn);
  t.equal(fieldNumber(claim.s), 0x4cdbe54b985f6fb4495398f94554883ead7cbb983597dc7ea8b9e32dfe95c27n);
  t.equal(verifier.verify(claim), 'valid');
});

test('signs the same as the plain library, for any hash and key', async (t) => {
  const hash = fc.oneof(
    { weight: 9, arbitrary: fc.bigInt({ min: 0n, max: LIMIT - 1n }) },
    // Truncation is different for short hashes, and for hashes with an odd number of digits.
    { weight: 3, arbitrary: fc.bigInt({ min: 0n, max: 2n ** 248n }) },
    { weight: 1, arbitrary: fc.constantFrom(0n, 1n, 2n ** 247n, 2n ** 248n, LIMIT - 1n) },
  );
  const key = fc.oneof(
    { weight: 9, arbitrary: fc.bigInt({ min: 1n, max: GROUP_ORDER - 1n }) },
    { weight: 1, arbitrary: fc.constantFrom(1n, 2n, 2n ** 250n, GROUP_ORDER - 1n) },
  );
  fc.assert(
    fc.property(hash, key, (hashNumber, keyNumber) => {
      const expected = sign(text(hashNumber), text(keyNumber));
      t.same(
        starkSign(hashNumber, keyNumber),
        { r: expected.r, s: expected.s },
        `${hashNumber} ${keyNumber}`,
      );
    }),
    { numRuns: cases(300) },
  );
});

test('keys and hashes out of range are refused', async (t) => {
  for (const key of [0n, GROUP_ORDER, 2n ** 256n - 1n]) {
    t.throws(() => starkPublicKey(key), RangeError);
    t.throws(() => starkSign(1n, key), RangeError);
  }
  t.throws(() => starkSign(LIMIT, 1n), RangeError);
});

test('agrees with the plain verifier, for good and damaged signatures', async (t) => {
  // The private keys 1 and n-1 have the x of the generator as their public key, so that equal points are added.
  const keys = [1n, 2n, 256n, GROUP_ORDER - 1n, GROUP_ORDER - 2n, KEY, 5n ** 100n, 7n ** 89n];
  const damages: Record<string, (claim: StarkClaim) => Partial<StarkClaim>> = {
    'other s': ({ s }) => ({ s: fieldBytes(GROUP_ORDER - fieldNumber(s)) }),
    'r + 1': ({ r }) => ({ r: fieldBytes(fieldNumber(r) + 1n) }),
    's + 1': ({ s }) => ({ s: fieldBytes(fieldNumber(s) + 1n) }),
    's + n': ({ s }) => ({ s: fieldBytes(fieldNumber(s) + GROUP_ORDER) }),
    'r 0': () => ({ r: fieldBytes(0n) }),
    's 0': () => ({ s: fieldBytes(0n) }),
    's n': () => ({ s: fieldBytes(GROUP_ORDER) }),
    'r 2^251': () => ({ r: fieldBytes(LIMIT) }),
    'all ones': () => ({ r: Buffer.alloc(32, 0xff), s: Buffer.alloc(32, 0xff) }),
    'r and s exchanged': ({ r, s }) => ({ r: s, s: r }),
    'hash + 1': ({ msgHash }) => ({ msgHash: fieldBytes(fieldNumber(msgHash) + 1n) }),
    'hash 2^251': () => ({ msgHash: fieldBytes(LIMIT) }),
    'other message': () => messageOf(1n),
    'key of another': () => ({ publicKey: starkPublicKey(3n) }),
    'key 0': () => ({ publicKey: fieldBytes(0n) }),
    'key off the curve': () => ({ publicKey: fieldBytes(KEY_OFF_CURVE) }),
    'key + p': ({ publicKey }) => ({ publicKey: fieldBytes(fieldNumber(publicKey) + FIELD_PRIME) }),
  };
  const damage = fc.option(fc.constantFrom(...Object.keys(damages)), { freq: 3, nil: undefined });
  const price = fc.bigInt({ min: 0n, max: 2n ** 100n });
  const seen = { valid: 0, 'hash mismatch': 0, 'invalid signature': 0 };
  fc.assert(
    fc.property(fc.constantFrom(...keys), price, damage, (key, value, name) => {
      const good = claimOf(messageOf(value), key);
      const claim = name === undefined ? good : { ...good, ...damages[name]!(good) };
      const verdict = verifier.verify(claim);
      seen[verdict] += 1;
      t.equal(verdict === 'valid', plainVerdict(claim), `${name} of ${value} by ${key}`);
      if (name === undefined || name === 'other s') t.equal(verdict, 'valid');
    }),
    { numRuns: cases(300), examples: [[KEY, 2n, 'hash + 1']] },
  );
  t.comment(JSON.stringify(seen));
  t.ok(seen.valid > cases(40) && seen['invalid signature'] > cases(40) && seen['hash mismatch'] > 0);
});

test('the nonce point has r itself as its x, not r plus n', async (t) => {
  // This signature has a nonce point whose x is slightly above n. The signature is made from this point, and the public key
  // is chosen last.
  let r = 1n;
  while (!isOnCurve(GROUP_ORDER + r)) r += 1n;
  const nonce = Point.fromHex(`02${text(GROUP_ORDER + r)}`);
  const message = messageOf(1n);
  const hash = hasher.hash(fieldNumber(message.x), fieldNumber(message.y));
  const s = 0x123456789n;
  const w = Point.Fn.inv(s);
  const u1 = Point.Fn.mul(hash, w);
  const u2 = Point.Fn.mul(r, w);
  const publicKey = nonce.subtract(Point.BASE.multiply(u1)).multiply(Point.Fn.inv(u2));
  const claim = {
    ...message,
    msgHash: fieldBytes(hash),
    r: fieldBytes(r),
    s: fieldBytes(s),
    publicKey: fieldBytes(publicKey.toAffine().x),
  };
  t.ok(w < LIMIT);
  t.ok(plainVerdict(claim), 'ECDSA by the book compares modulo n');
  t.equal(verifier.verify(claim), 'invalid signature', "StarkWare's verifier compares field elements");
});

function isOnCurve(x: bigint): boolean {
  try {
    Point.fromHex(`02${text(x)}`);
    return true;
  } catch {
    return false;
  }
}
