import { z } from 'zod';
import { hasAtMost } from '../../model/text.js';
import { AGGREGATION_TYPES } from '../../wire/algorithms.js';
import { UINT16_MAX } from '../../wire/asset_id.js';
import {
  MARKET_STATUS_CODES,
  MARKET_STATUS_NAMES,
  MARKET_STATUS_SUFFIXES,
} from '../../wire/market_status_codes.js';
import { REST_PATHS } from '../../wire/paths.js';
import { PRICE_PATTERN } from '../../wire/quantized_price.js';
import { signedPriceField } from '../../wire/service_name.js';
import { SIGNATURE_TYPES, SIGNATURES, TRIGGERS } from '../../wire/signatures.js';
import { componentName, textOfEach } from './signature_documents.js';

// The values of REST and of the streams in their form on the wire. Each value has one definition. Handlers take their types from
// these schemas, and the OpenAPI and AsyncAPI documents come from these schemas. A schema with an `id` becomes a component of
// that name in the documents.

/** Makes the schema of a text of at most `charactersMax` characters. */
export function textUpTo(charactersMax: number) {
  return z
    .string()
    .refine((text) => hasAtMost(charactersMax, text))
    .meta({ maxLength: charactersMax });
}

/** UNIX time in nanoseconds. The type is a bigint, because a double cannot hold the value. */
export const timestampNs = z
  .bigint()
  .meta({ id: 'Timestamp', description: 'UNIX time in nanoseconds: exact, a double does not hold it' });
export const quantizedPrice = z
  .string()
  .regex(PRICE_PATTERN)
  .meta({ id: 'QuantizedPrice', description: 'The price times 10^18 as a decimal integer' });
export const assetId = z.string().meta({ id: 'AssetID', description: 'Symbol of an asset' });
export const encodedAssetId = z.string().meta({
  id: 'EncodedAssetID',
  description: 'Base64 of the asset ID, or its Keccak-256 in hex, as configured',
});
export const signatureType = z.enum(SIGNATURE_TYPES).meta({
  id: 'SignatureType',
  description: textOfEach(({ rule }) => rule),
});
const uint16 = z.int().min(0).max(UINT16_MAX);
export const streamingAssetId = uint16.meta({
  id: 'StreamingAssetID',
  description: `The number of an asset on the streaming API; \`${REST_PATHS.taxonomy}\` lists them`,
});
export const taxonomyId = uint16.meta({
  id: 'TaxonomyID',
  description: 'The edition of the list of streaming asset IDs',
});
export const marketStatusCode = z.union(MARKET_STATUS_CODES.map((code) => z.literal(code))).meta({
  id: 'MarketStatusCode',
  description: MARKET_STATUS_CODES.map((code) => `${code} ${MARKET_STATUS_NAMES[code]}`).join(', '),
});

export const hex = z
  .string()
  .regex(/^0x[0-9a-fA-F]+$/)
  .meta({ id: 'Hex', description: 'A number or bytes' });

export const errorResponse = z
  .strictObject({ error: z.string() })
  .meta({ id: 'ErrorResponse', description: 'What went wrong, naming the parameter at fault' });

const signature = z.union(
  SIGNATURE_TYPES.map((type) =>
    z
      .strictObject({ r: hex, s: hex, ...(SIGNATURES[type].hasRecovery && { v: hex }) })
      .meta({ id: `${componentName(type)}Signature` }),
  ),
);

export const timestampedSignature = z
  .strictObject({ signature, timestamp: timestampNs, msg_hash: hex })
  .meta({ id: 'TimestampedSignature' });

export const calculationAlg = z
  .strictObject({
    type: z.enum(AGGREGATION_TYPES).meta({ title: 'Aggregation' }),
    version: z.string(),
    checksum: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .describe(`SHA-256 of the written definition served by \`${REST_PATHS.algorithms}\``),
  })
  .meta({ id: 'CalculationAlg' });

export const metadata = z
  .record(z.string(), z.unknown())
  .nullable()
  .meta({ id: 'Metadata', description: 'What the publisher adds; no signature covers it' });

export const publisherSignedPrice = z
  .strictObject({
    publisher_key: hex,
    external_asset_id: z.string(),
    signature_type: signatureType,
    price: quantizedPrice,
    timestamped_signature: timestampedSignature,
    metadata: metadata.optional(),
  })
  .meta({ id: 'PublisherSignedPrice', description: 'The strings of a publisher, exactly as they came' });

const trigger = z.enum(TRIGGERS).meta({
  title: 'Trigger',
  description: 'Why it was signed: its period is over, or the price moved far enough',
});

/** The facts about the inputs of an aggregate. */
export const priceQuality = z
  .strictObject({
    publishers: z.int().min(1).describe('The number of publishers whose prices count'),
    newest_input_age_ns: z
      .bigint()
      .describe(
        'The age of the newest input when the service signed, in nanoseconds; negative when a publisher is ahead of the clock',
      ),
    input_spread: quantizedPrice.describe('The difference of the highest and the lowest input, times 10^18'),
  })
  .meta({ id: 'PriceQuality' });

/** @param serviceName the configuration's `service.name`, the first word of `service_signed_price` */
export function aggregatedSignedPrice(serviceName: string) {
  const serviceSignedPrice = z
    .strictObject({
      public_key: hex,
      encoded_asset_id: encodedAssetId,
      price: quantizedPrice,
      timestamped_signature: timestampedSignature.describe('When the service signed, and what'),
      publisher_merkle_root: hex,
      calculation_alg: calculationAlg,
    })
    .meta({ id: 'ServiceSignedPrice' });
  return z
    .strictObject({
      timestamp: timestampNs.describe('The newest signature time among `signed_prices`, in nanoseconds'),
      asset_id: assetId,
      signature_type: signatureType,
      trigger,
      price: quantizedPrice,
      [signedPriceField(serviceName)]: serviceSignedPrice,
      signed_prices: z.array(publisherSignedPrice).describe('The inputs, sorted by publisher key'),
      quality: priceQuality
        .optional()
        .describe(`Only on \`${REST_PATHS.latest}\` and \`${REST_PATHS.at}\` with \`quality=true\``),
    })
    .meta({ id: 'AggregatedSignedPrice' });
}

/** @param serviceName as in {@link aggregatedSignedPrice} */
export function marketStatusValue(serviceName: string) {
  const price = z
    .string()
    .regex(/^[0-9]+$/)
    .describe('A market status code, or UNIX seconds');
  return z
    .strictObject({
      timestamp: timestampNs,
      asset_id: assetId.describe(
        `The asset and ${Object.values(MARKET_STATUS_SUFFIXES)
          .map((suffix) => `\`${suffix}\``)
          .join(' or ')}`,
      ),
      signature_type: signatureType,
      trigger,
      price,
      [signedPriceField(serviceName)]: z.strictObject({
        encoded_asset_id: encodedAssetId,
        price,
        timestamped_signature: z.strictObject({ timestamp: timestampNs }),
      }),
      signed_prices: z.array(z.never()).max(0).describe('Always empty'),
    })
    .meta({ id: 'MarketStatusValue', description: 'A value in the shape of a price, without a signature' });
}

export const candleColumns = {
  t: z.array(z.int()).describe('Start of the candle, UNIX seconds'),
  o: z.array(z.number()),
  h: z.array(z.number()),
  l: z.array(z.number()),
  c: z.array(z.number()),
};
export const tradingViewHistory = z.strictObject(candleColumns).meta({
  id: 'TradingViewHistoryResponse',
  description: 'Five arrays of equal length, one entry per candle; prices are doubles',
});

export const deployment = z
  .strictObject({
    chain_id: z.int(),
    network: z.string(),
    environment: z.string(),
    proxy_address: hex,
    block_explorer_url: z.string(),
  })
  .meta({ id: 'Deployment' });

const pushedAsset = z
  .strictObject({
    delta: z.number().describe('Percentage change that triggers an update'),
    staleness: z.number().describe('Seconds without an update that trigger one'),
  })
  .meta({ id: 'PushedAsset' });
export const brokers = z
  .array(
    z.strictObject({
      publish_url: z.string().describe('A WebSocket address, absolute'),
      asset_ids: z.array(assetId).min(1),
    }),
  )
  .max(1)
  .meta({ id: 'Brokers', description: 'Empty where the publisher may publish nothing' });

export const publisherMetadataAnswer = z.strictObject({}).meta({ id: 'PublisherMetadataAnswer' });

export const pushedAssets = z
  .record(z.string(), z.record(z.string(), z.record(assetId, pushedAsset)))
  .describe('By chain, environment and asset');

export const serviceSigner = z
  .strictObject({
    address: hex.describe(textOfEach(({ key }) => key)),
    signature_type: signatureType,
    role: z.enum(['aggregate', 'stream']).meta({
      title: 'SignerRole',
      description: 'What the key signs: aggregates of that signature type, or `signed_ecdsa` frames',
    }),
  })
  .meta({ id: 'ServiceSigner', description: "One of the service's own keys, to verify signatures against" });

export const taxonomy = z
  .strictObject({
    taxonomy_id: taxonomyId,
    oracle_id: z.string().describe("The service's oracle ID, which its Stark signatures cover"),
    simulation: z.literal(true).optional().describe('All prices of this service are simulated'),
    signers: z
      .array(serviceSigner)
      .describe(
        'A key with two roles has two entries. Whoever needs proof compares them with another source',
      ),
    statement: hex
      .optional()
      .describe(
        'The meaning of the IDs in `assets`, signed by the key that signs streaming payloads now. ' +
          'Bytes: signature `r` (32), `s` (32), `v` (1, 0 or 1), then the body: taxonomy ID (2), time of the signature in nanoseconds (8), ' +
          'number of assets (4), root (32). The root is the Keccak-256 of the entries of all assets in the order of their IDs; an entry is ' +
          `the ID (2), the type (1, ${SIGNATURE_TYPES.map((type, i) => `${i} ${type}`).join(', ')}), the length of the symbol (2) and the symbol in UTF-8. The signature covers the ` +
          'Keccak-256 of the byte 0xFF, the ASCII text `tickseal-taxonomy/v1` and the body, without the EIP-191 prefix. Integers are big-endian. ' +
          'Absent where this node signs no payloads',
      ),
    assets: z.array(
      z.strictObject({
        asset_id: streamingAssetId,
        name: assetId,
        signature_type: signatureType,
        aggregation: calculationAlg.shape.type,
        calendar: z.string().describe('`none` for an asset that trades around the clock'),
        full_name: z.string().optional().describe('The name for people, such as Bitcoin'),
        class: z.string().optional().describe('The kind of asset, such as crypto'),
        simulation: z.boolean().optional().describe('Only where some prices are simulated and others real'),
      }),
    ),
  })
  .meta({ id: 'Taxonomy' });

export const algorithms = z.array(
  z.strictObject({
    ...calculationAlg.shape,
    definition: z.string().describe('The text that the checksum is of'),
  }),
);
