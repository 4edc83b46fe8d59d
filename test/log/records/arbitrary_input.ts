import fc from 'fast-check';
import type { SignatureType } from '../../../src/model/asset.js';
import type { PublisherPrice } from '../../../src/model/signed_price.js';

// Inputs with all texts that the gate accepts.

/** Hex of at most `bytes` bytes as publishers write it: in either case, with or without leading zeros. */
export const hex = (bytes: number) =>
  fc.stringMatching(new RegExp(`^0x[0-9a-fA-F]{1,${2 * bytes}}$`)) as fc.Arbitrary<string>;
/** Integers from 0. */
export const upTo = (max: bigint) => fc.bigInt({ min: 0n, max });
/** Texts of a Stark input's ID and `v`: any text. */
export const text = fc.oneof(
  fc.constantFrom('BTCUSD', '},{"publisher_key":"', ',"signed_prices":', '\u2028'),
  fc.string({ unit: 'binary' }),
);
const metadata = fc.option(
  fc.oneof(
    fc.constantFrom(
      'null',
      '{}',
      '{"a":[{"b":1},{"publisher_key":"x"}],"c":"}],{"}',
      '{"n":1.50000000000000000001}',
    ),
    fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }).map((value) => JSON.stringify(value)),
  ),
  { nil: undefined },
);
export const signedPrice = fc.bigInt({ min: -(2n ** 127n), max: 2n ** 127n - 1n });
const wire = (type: SignatureType) =>
  fc.record({
    publisherKey: hex(type === 'evm' ? 20 : 32),
    externalAssetId: text,
    r: hex(32),
    s: hex(32),
    v: type === 'evm' ? hex(32) : fc.option(text, { nil: undefined }),
    msgHash: hex(32),
    metadata,
  });
/** Inputs of a signature type. */
export const signedInput = (type: SignatureType) =>
  fc.tuple(signedPrice, upTo(2n ** 63n - 1n), wire(type)).map(([price, timestampNs, texts]) => ({
    price,
    timestampNs,
    wire: { ...texts, price: String(price) },
  })) as unknown as fc.Arbitrary<PublisherPrice>;
