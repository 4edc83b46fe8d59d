import fc from 'fast-check';
import { test } from 'tap';
import { checksumAddress } from '../../src/crypto/checksum_address.js';
import {
  eip191,
  encodedAssetId,
  evmAddress,
  evmAggregateHash,
  evmPriceHash,
  isCanonicalSignature,
  isEvmPriceHash,
  isHashSignedBy,
  isSignedBy,
} from '../../src/crypto/evm.js';
import { keccak256 } from '../../src/crypto/keccak.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import type { Price } from '../../src/model/price.js';
import type { TimeNs } from '../../src/model/time.js';

const KEY = Buffer.from('8b558d5fc31eb64bb51d44b4b28658180e96764d5d5ac68e6d124f86f576d9de', 'hex');
const ADDRESS = Buffer.from('99e295e85cb07c16b7bb62a44df532a7f2620237', 'hex');
const TIME = 1710191092123456789n as TimeNs;
const PRICE = 72147681412670819000000n as Price;
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

test('a publisher price: address, hash and signature of a real vector', async (t) => {
  t.same(evmAddress(secp256k1.publicKey(KEY)), ADDRESS);
  const hash = evmPriceHash(ADDRESS, 'BTCUSDMARK', TIME, PRICE);
  t.equal(hash.toString('hex'), '4a8e2a9c736a3a2e315facf28ba95e126e37b57646481078e4f0809262c6560b');
  const { signature, recovery } = secp256k1.sign(eip191(hash), KEY);
  t.equal(
    Buffer.from(signature).toString('hex'),
    '14e378dcf486b15c157fb6af80fc275b895bd1cae818fc4597a6b4a1571a831e' +
      '79b4823a159988c04576ff71bc3ca168a631ac666094b0f4157e59b2892f6490',
  );
  t.equal(recovery, 0);
  t.ok(isSignedBy(ADDRESS, eip191(hash), signature, recovery));
  t.notOk(isSignedBy(ADDRESS, eip191(hash), signature, 1));
  t.notOk(isSignedBy(ADDRESS, hash, signature, recovery), 'without the prefix');
  t.ok(isHashSignedBy(ADDRESS, hash, signature, recovery));
  t.notOk(isHashSignedBy(ADDRESS, hash, signature, 1));
  t.notOk(isSignedBy(Buffer.alloc(20, 7), eip191(hash), signature, recovery));
});

test('hashes are those of the fields written out as hex', async (t) => {
  const word = (value: bigint): string => BigInt.asUintN(256, value).toString(16).padStart(64, '0');
  const address = fc.uint8Array({ minLength: 20, maxLength: 20 });
  const hash32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const time = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
  const price = fc.bigInt({ min: -(2n ** 127n), max: 2n ** 127n - 1n });
  fc.assert(
    fc.property(
      address,
      fc.string({ unit: 'grapheme' }),
      time,
      price,
      hash32,
      hash32,
      (who, symbol, ns, value, root, sum) => {
        const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
        const of = (...parts: string[]): Buffer => keccak256(Buffer.from(parts.join(''), 'hex'));
        const symbolHex = hex(Buffer.from(symbol));
        t.same(
          evmPriceHash(who, symbol, ns as TimeNs, value as Price),
          of(hex(who), symbolHex, word(ns / 1_000_000_000n), word(value)),
        );
        const isHash = (hash: Uint8Array) => isEvmPriceHash(hash, who, symbol, ns as TimeNs, value as Price);
        t.ok(isHash(evmPriceHash(who, symbol, ns as TimeNs, value as Price)));
        t.notOk(isHash(root));
        t.same(
          evmAggregateHash({
            address: who,
            symbol,
            signedAtNs: ns as TimeNs,
            price: value as Price,
            merkleRoot: root,
            checksum: sum,
          }),
          of(hex(who), hex(of(symbolHex)), word(ns), word(value), hex(root), hex(sum)),
        );
      },
    ),
  );
});

test('canonical signatures: r and s in 1 .. n-1, s at most n/2', async (t) => {
  const word = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
  const isCanonical = (r: bigint, s: bigint): boolean =>
    isCanonicalSignature(Buffer.concat([word(r), word(s)]));
  t.ok(isCanonical(1n, 1n));
  t.ok(isCanonical(N - 1n, N / 2n));
  t.notOk(isCanonical(0n, 1n));
  t.notOk(isCanonical(1n, 0n));
  t.notOk(isCanonical(N, 1n));
  t.notOk(isCanonical(1n, N / 2n + 1n));
  t.notOk(isCanonical(1n, N));

  // Numbers around each value of the first byte. The first byte alone must not decide these cases.
  const edge = fc
    .tuple(fc.nat(255), fc.bigInt({ min: -2n, max: 2n }), fc.constantFrom(0n, 1n, N, N / 2n))
    .map(([first, step, base]) => BigInt.asUintN(256, (BigInt(first) << 248n) + step + (base >> 8n)));
  const value = fc.oneof(edge, fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }));
  fc.assert(
    fc.property(value, value, (r, s) => isCanonical(r, s) === (r > 0n && r < N && s > 0n && s <= N / 2n)),
    { numRuns: 2_000 },
  );
});

test('EIP-55: the vectors of the standard', async (t) => {
  for (const text of [
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '0xde709f2102306220921060314715629080e2fb77',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  ]) {
    t.equal(checksumAddress(Buffer.from(text.slice(2), 'hex')), text);
  }
});

test('encoded asset IDs', async (t) => {
  t.equal(encodedAssetId('BTCUSD', 'base64'), 'QlRDVVNE');
  t.equal(
    encodedAssetId('BTCUSD', 'keccak256'),
    '0x7404e3d104ea7841c3d9e6fd20adfe99b4ad586bc08d8f3bd3afef894cf184de',
  );
});
