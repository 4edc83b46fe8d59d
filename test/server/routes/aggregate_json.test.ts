import fc from 'fast-check';
import { test } from 'tap';
import type { z } from 'zod';
import { parseExactJson } from '../../../src/client/verify/exact_json.js';
import { algorithmChecksum } from '../../../src/crypto/algorithm_definition.js';
import type { Price } from '../../../src/model/price.js';
import type { SignedAggregate } from '../../../src/model/signed_price.js';
import type { TimeNs } from '../../../src/model/time.js';
import { aggregateJson } from '../../../src/server/routes/aggregate_json.js';
import {
  aggregatedSignedPrice,
  type publisherSignedPrice,
} from '../../../src/server/schemas/value_schemas.js';
import { START_NS, sampleAsset, sampleInput, samplePublisher } from '../../model/sample.js';

type PublisherSignedPrice = z.infer<typeof publisherSignedPrice>;

const publisher = samplePublisher();
const base64 = (symbol: string) => Buffer.from(symbol).toString('base64');

function aggregateOf(overrides: Partial<SignedAggregate> = {}): SignedAggregate {
  const asset = sampleAsset();
  return {
    symbol: asset.symbol,
    trigger: 'delta',
    price: -72147681412670819000000n as Price,
    timestampNs: START_NS,
    signedAtNs: (START_NS + 123_456_789n) as TimeNs,
    signatureType: 'evm',
    publicKey: '0xc4A02e7D370402F4afC36032076B05e74FF81786',
    msgHash: Buffer.alloc(32, 0x0a),
    r: Buffer.alloc(32, 1),
    s: Buffer.alloc(32, 2),
    v: 28,
    merkleRoot: Buffer.alloc(32, 3),
    algorithm: 'weighted average',
    inputs: [sampleInput(asset, publisher, 5n, START_NS)],
    ...overrides,
  };
}

test('an EVM aggregate has exactly the fields of the REST API', async (t) => {
  const read = parseExactJson(aggregateJson(aggregateOf(), 'service', base64));
  t.same(read, {
    timestamp: 1_772_460_000_000_000_000n,
    asset_id: 'BTCUSD',
    signature_type: 'evm',
    trigger: 'delta',
    price: '-72147681412670819000000',
    service_signed_price: {
      public_key: '0xc4A02e7D370402F4afC36032076B05e74FF81786',
      encoded_asset_id: 'QlRDVVNE',
      price: '-72147681412670819000000',
      timestamped_signature: {
        signature: { r: `0x${'01'.repeat(32)}`, s: `0x${'02'.repeat(32)}`, v: '0x1c' },
        timestamp: 1_772_460_000_123_456_789n,
        msg_hash: `0x${'0a'.repeat(32)}`,
      },
      publisher_merkle_root: `0x${'03'.repeat(32)}`,
      calculation_alg: {
        type: 'weighted average',
        version: 'v1',
        checksum: algorithmChecksum('weighted average'),
      },
    },
    signed_prices: [
      {
        publisher_key: `0x${'01'.repeat(20)}`,
        external_asset_id: 'BTCUSD',
        signature_type: 'evm',
        price: '5',
        timestamped_signature: {
          signature: { r: '0x1', s: '0x2', v: '0x1b' },
          timestamp: 1_772_460_000_000_000_000n,
          msg_hash: '0x3',
        },
      },
    ],
  });
});

test('a Stark aggregate has no v, and its numbers have all of their digits', async (t) => {
  const aggregate = aggregateOf({
    signatureType: 'stark',
    v: undefined,
    r: Buffer.from('0f'.padStart(64, '0'), 'hex'),
    s: Buffer.from('10'.padStart(64, '0'), 'hex'),
  });
  const { service_signed_price: signed } = parseExactJson(aggregateJson(aggregate, 'service', base64)) as {
    service_signed_price: { timestamped_signature: unknown };
  };
  t.same(signed.timestamped_signature, {
    signature: { r: `0x${'f'.padStart(64, '0')}`, s: `0x${'10'.padStart(64, '0')}` },
    timestamp: 1_772_460_000_123_456_789n,
    msg_hash: `0x${'0a'.repeat(32)}`,
  });
});

test('the service’s own name stands in the key', async (t) => {
  const read = parseExactJson(aggregateJson(aggregateOf(), 'acme', base64)) as object;
  t.ok('acme_signed_price' in read);
});

test('whatever was published, it is JSON that the schema takes, and what came is what goes out', async () => {
  const symbol = fc.string({ minLength: 1, unit: 'binary' });
  fc.assert(
    fc.property(
      symbol,
      fc.bigInt({ min: -(2n ** 127n), max: 2n ** 127n - 1n }),
      fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
      fc.option(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 })),
      (name, price, timeNs, metadata) => {
        const asset = sampleAsset({ symbol: name });
        const input = sampleInput(asset, publisher, price, timeNs);
        const wire = { ...input.wire, metadata: JSON.stringify(metadata) };
        const aggregate = aggregateOf({
          symbol: name,
          price: price as Price,
          inputs: [{ ...input, wire }, input],
        });
        const text = aggregateJson(aggregate, 'service', base64);
        const read = aggregatedSignedPrice('service').parse(parseExactJson(text));
        const [first, second] = read.signed_prices as PublisherSignedPrice[];
        const written = JSON.parse(text).signed_prices[0].metadata;
        return (
          read.asset_id === name &&
          read.price === `${price}` &&
          first!.external_asset_id === name &&
          first!.timestamped_signature.timestamp === timeNs &&
          JSON.stringify(written) === JSON.stringify(metadata) &&
          second!.metadata === undefined
        );
      },
    ),
  );
});
