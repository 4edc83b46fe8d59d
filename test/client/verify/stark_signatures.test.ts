import * as scure from '@scure/starknet';
import fc from 'fast-check';
import { test } from 'tap';
import { integerBytes } from '../../../src/client/verify/bytes.js';
import { pedersenHash } from '../../../src/client/verify/stark_pedersen.js';
import { FIELD_PRIME, GROUP_ORDER } from '../../../src/client/verify/stark_points.js';
import { starkPublicX, starkSign, starkVerify } from '../../../src/client/verify/stark_signatures.js';

// Tests of the client's Stark curve. @scure/starknet is the reference.

const RUNS = 40;
const LIMIT = 2n ** 251n;
const key = fc.bigInt({ min: 1n, max: GROUP_ORDER - 1n });
const hash = fc.oneof(
  fc.bigInt({ min: 0n, max: LIMIT - 1n }),
  fc.bigInt({ min: 0n, max: 2n ** 200n }),
  fc.constantFrom(0n, 1n, LIMIT - 1n),
);
const element = fc.oneof(
  fc.bigInt({ min: 0n, max: FIELD_PRIME - 1n }),
  fc.bigInt({ min: 0n, max: 2n ** 160n }),
  fc.constantFrom(0n, 1n, 2n ** 248n, FIELD_PRIME - 1n),
);

/** Verifies a signature with @scure/starknet for both points that have this x. */
function verifiedByScure({ r, s }: { r: bigint; s: bigint }, msgHash: bigint, x: bigint): boolean {
  const point = x.toString(16).padStart(64, '0');
  try {
    const signature = new scure.Signature(r, s);
    return ['02', '03'].some((sign) => scure.verify(signature, msgHash.toString(16), sign + point));
  } catch {
    return false;
  }
}

test('keys, hashes and signatures are those of @scure/starknet', async () => {
  fc.assert(
    fc.property(key, hash, (secret, msgHash) => {
      const secretKey = integerBytes(secret, 32);
      const x = starkPublicX(secretKey);
      const { r, s } = starkSign(msgHash, secretKey);
      const expected = scure.sign(msgHash.toString(16), secretKey);
      return (
        `0x${x.toString(16)}` === scure.getStarkKey(secretKey) &&
        r === expected.r &&
        s === expected.s &&
        starkVerify({ r, s }, msgHash, x)
      );
    }),
    { numRuns: RUNS },
  );
  fc.assert(
    fc.property(element, element, (x, y) => pedersenHash(x, y) === BigInt(scure.pedersen(x, y))),
    { numRuns: RUNS },
  );
});

test('what does not fit is refused, as by @scure/starknet', async () => {
  const change = fc.constantFrom('r', 's', 'hash', 'key', '-s');
  fc.assert(
    fc.property(key, hash, change, fc.bigInt({ min: 1n, max: LIMIT }), (secret, msgHash, what, by) => {
      const secretKey = integerBytes(secret, 32);
      const { r, s } = starkSign(msgHash, secretKey);
      const x = starkPublicX(secretKey);
      const signature = {
        r: what === 'r' ? r ^ by : r,
        s: what === 's' ? s ^ by : what === '-s' ? GROUP_ORDER - s : s,
      };
      const claim = [
        signature,
        what === 'hash' ? msgHash ^ by : msgHash,
        what === 'key' ? x ^ by : x,
      ] as const;
      return starkVerify(...claim) === verifiedByScure(...claim);
    }),
    { numRuns: RUNS * 2 },
  );
});
