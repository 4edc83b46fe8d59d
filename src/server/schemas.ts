import { z } from 'zod';

// The resources of the spec as they stand on the wire, each once: handlers take their types from here, and the
// published OpenAPI and AsyncAPI documents are derived from here.

/** UNIX time in nanoseconds. A bigint, because a double does not hold it. */
export const timestampNs = z
  .bigint()
  .describe('UNIX time in nanoseconds (int64): exact, a double does not hold it');
export const quantizedPrice = z
  .string()
  .regex(/^-?(0|[1-9][0-9]*)$/)
  .describe('The price times 10^18 as a decimal integer');
export const assetId = z.string().describe('Symbol of an asset');
export const encodedAssetId = z
  .string()
  .describe('Base64 of the asset ID, or its Keccak-256 in hex, as configured');
export const signatureType = z.enum(['evm', 'stark']);
export const marketStatusCode = z
  .union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)])
  .describe('0 closed, 1 regular hours, 2 extended hours, 3 after hours');

const hex = z.string().regex(/^0x[0-9a-fA-F]+$/);

export const errorResponse = z
  .strictObject({ error: z.string() })
  .describe('What went wrong, naming the parameter at fault');

export const evmSignature = z.strictObject({ r: hex, s: hex, v: hex }).describe('ECDSA on secp256k1');
export const starkSignature = z.strictObject({ r: hex, s: hex }).describe('ECDSA on the Stark curve');

export const timestampedSignature = z.strictObject({
  signature: z.union([evmSignature, starkSignature]),
  timestamp: timestampNs,
  msg_hash: hex,
});

export const calculationAlg = z.strictObject({
  type: z.enum(['median', 'average', 'weighted average']),
  version: z.string(),
  checksum: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('SHA-256 of the written definition served by /v1/algorithms'),
});

export const publisherSignedPrice = z.strictObject({
  publisher_key: hex,
  external_asset_id: z.string(),
  signature_type: signatureType,
  price: quantizedPrice,
  timestamped_signature: timestampedSignature,
  metadata: z.record(z.string(), z.unknown()).nullable().optional(),
});

/** @param serviceName the configuration's `service.name`, the word in `service_signed_price` */
export function aggregatedSignedPrice(serviceName: string) {
  return z.strictObject({
    timestamp: timestampNs,
    asset_id: assetId,
    signature_type: signatureType,
    trigger: z.enum(['clock', 'delta']),
    price: quantizedPrice,
    [`${serviceName}_signed_price`]: z.strictObject({
      public_key: hex,
      encoded_asset_id: encodedAssetId,
      price: quantizedPrice,
      timestamped_signature: timestampedSignature,
      publisher_merkle_root: hex,
      calculation_alg: calculationAlg,
    }),
    signed_prices: z.array(publisherSignedPrice),
  });
}

/** @param serviceName as in {@link aggregatedSignedPrice} */
export function marketStatusValue(serviceName: string) {
  return z.strictObject({
    timestamp: timestampNs,
    asset_id: assetId,
    signature_type: signatureType,
    trigger: z.enum(['clock', 'delta']),
    price: z
      .string()
      .regex(/^[0-9]+$/)
      .describe('A market status code, or UNIX seconds'),
    [`${serviceName}_signed_price`]: z.strictObject({
      encoded_asset_id: encodedAssetId,
      price: z.string(),
      timestamped_signature: z.strictObject({ timestamp: timestampNs }),
    }),
    signed_prices: z.array(z.never()).max(0),
  });
}

const candleColumns = {
  t: z.array(z.int()).describe('Start of the candle, UNIX seconds'),
  o: z.array(z.number()),
  h: z.array(z.number()),
  l: z.array(z.number()),
  c: z.array(z.number()),
};
export const tradingViewHistory = z
  .strictObject(candleColumns)
  .describe('Five arrays of equal length, one entry per candle');

export const deployment = z.strictObject({
  chain_id: z.int(),
  network: z.string(),
  environment: z.string(),
  proxy_address: hex,
  block_explorer_url: z.string(),
});

export const pushedAssets = z
  .record(
    z.string(),
    z.record(z.string(), z.record(z.string(), z.strictObject({ delta: z.number(), staleness: z.number() }))),
  )
  .describe(
    'Chain, environment and asset to the delta (percent) and staleness (seconds) that trigger an update',
  );

export const taxonomy = z.strictObject({
  taxonomy_id: z.int().min(0).max(65_535),
  simulation: z.literal(true).optional().describe('The prices of this service are simulated'),
  assets: z.array(
    z.strictObject({
      asset_id: z.int().min(0).max(65_535).describe('The ID on the streaming API'),
      name: assetId,
      signature_type: signatureType,
      aggregation: calculationAlg.shape.type,
      calendar: z.string(),
    }),
  ),
});

export const algorithms = z.array(
  z.strictObject({
    ...calculationAlg.shape,
    definition: z.string().describe('The text that the checksum is of'),
  }),
);

export const udfConfig = z.strictObject({
  supported_resolutions: z.array(z.string()),
  supports_search: z.literal(true),
  supports_time: z.literal(true),
  supports_group_request: z.literal(false),
  supports_marks: z.literal(false),
  supports_timescale_marks: z.literal(false),
});

export const udfSymbol = z.strictObject({
  name: z.string(),
  ticker: z.string(),
  description: z.string(),
  type: z.string(),
  exchange: z.string(),
  listed_exchange: z.string(),
  session: z.string(),
  timezone: z.string(),
  format: z.literal('price'),
  minmov: z.int(),
  pricescale: z.int(),
  has_intraday: z.literal(true),
  has_daily: z.literal(true),
  has_weekly_and_monthly: z.literal(true),
  intraday_multipliers: z.array(z.string()),
  supported_resolutions: z.array(z.string()),
  volume_precision: z.int(),
  visible_plots_set: z.literal('ohlc'),
  data_status: z.literal('streaming'),
});

export const udfError = z.strictObject({ s: z.literal('error'), errmsg: z.string() });

export const udfSearch = z.array(
  z.strictObject({
    symbol: z.string(),
    full_name: z.string(),
    description: z.string(),
    exchange: z.string(),
    ticker: z.string(),
    type: z.string(),
  }),
);

export const udfHistory = z.union([
  z.strictObject({ s: z.literal('ok'), ...candleColumns }),
  z.strictObject({
    s: z.literal('no_data'),
    nextTime: z.int().optional().describe('Start of the last candle before the range, UNIX seconds'),
  }),
  udfError,
]);
