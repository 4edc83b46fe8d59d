import { z } from 'zod';
import {
  ATTRIBUTES,
  CHANNEL_INTERVALS_MS,
  type Channel,
  DEFAULT_CHANNEL,
  DEFAULT_MESSAGE_TYPE,
  MESSAGE_TYPES,
} from '../../stream/options.js';
import { ID_LENGTH_MAX } from '../../stream/request.js';
import {
  assetId,
  hex,
  marketStatusCode,
  metadata,
  quantizedPrice,
  streamingAssetId,
  taxonomyId,
  timestampNs,
} from './values.js';

// What goes over the WebSockets, each message once: the published AsyncAPI document is derived from here. Objects that
// clients send may hold more than is named; what the service sends holds nothing else.

/** Whether each publish message is answered, and when. */
export const ACKS = ['true', 'false', 'durable'] as const;
export type Ack = (typeof ACKS)[number];
export const DEFAULT_ACK: Ack = 'false';

const attributeNames = `(?:${ATTRIBUTES.join('|')})`;

/** The query of `/ws`. */
export const streamQuery = z.object({
  channel: z
    .enum(Object.keys(CHANNEL_INTERVALS_MS) as [Channel, ...Channel[]])
    .default(DEFAULT_CHANNEL)
    .describe('How often frames come: at that interval, or with `real_time` when a price changed'),
  message_type: z.enum(MESSAGE_TYPES).default(DEFAULT_MESSAGE_TYPE).describe('The form of the frames'),
  addtl_attrs: z
    .string()
    .regex(new RegExp(`^${attributeNames}(?:,${attributeNames})*$`))
    .optional()
    .describe('Comma-separated list. `ms` adds to each asset the market status at the time of the frame'),
});

/** The query of the publisher paths. */
export const publishQuery = z.object({
  ack: z
    .enum(ACKS)
    .default(DEFAULT_ACK)
    .describe('`true`: every message is answered. `durable`: once its effect is on disk'),
});

const requestId = z
  .union([z.string().max(ID_LENGTH_MAX), z.number()])
  .meta({ id: 'RequestID', description: 'Chosen by the client; it comes back in the answer' });

const streamingAssetIds = z.array(streamingAssetId);

export const subscribe = z
  .object({
    type: z.literal('subscribe'),
    assets: streamingAssetIds.describe('What to add to the subscribed assets'),
    ignore_invalid: z
      .boolean()
      .optional()
      .describe('Take the known IDs when others are not; otherwise one unknown ID refuses them all'),
    id: requestId.optional().describe('A request that carries one is answered'),
  })
  .meta({ id: 'Subscribe' });

export const unsubscribe = z
  .object({
    type: z.literal('unsubscribe'),
    assets: streamingAssetIds.describe('What to leave; IDs that are not subscribed are ignored'),
    id: requestId.optional().describe('A request that carries one is answered'),
  })
  .meta({ id: 'Unsubscribe' });

const answered = {
  id: requestId,
  assets: streamingAssetIds.describe('The whole set now, ascending'),
  invalid: z.array(z.int()).describe('IDs of the request that are unknown or not covered by the token'),
};
export const subscribed = z
  .strictObject({ type: z.literal('subscribe'), ...answered })
  .meta({ id: 'Subscribed' });
export const unsubscribed = z
  .strictObject({ type: z.literal('unsubscribe'), ...answered })
  .meta({ id: 'Unsubscribed' });

export const streamError = z
  .strictObject({
    type: z.literal('error'),
    error: z.string(),
    id: requestId.optional().describe("The request's, when it carried one"),
  })
  .meta({ id: 'StreamError' });

export const unsignedFrame = z
  .strictObject({
    type: z.literal('unsigned'),
    tax: taxonomyId,
    ts: timestampNs.describe('When the frame was made, in nanoseconds; it always grows'),
    a: z
      .array(
        z.strictObject({
          id: streamingAssetId,
          v: quantizedPrice,
          ms: marketStatusCode
            .optional()
            .describe('Only with `addtl_attrs=ms`, and only of assets with a market schedule'),
        }),
      )
      .min(1)
      .describe('Ascending by ID'),
  })
  .meta({ id: 'UnsignedFrame' });

export const signedFrame = z
  .strictObject({
    type: z.literal('signed_ecdsa'),
    p: z
      .string()
      .regex(/^0x(?:[0-9a-f]{2})+$/)
      .describe('The payload in hex'),
  })
  .meta({ id: 'SignedFrame' });

/** Counted in UTF-16 code units, as the reader of messages counts. */
export const TRACE_ID_LENGTH_MAX = 256;

const traceId = z.string().max(TRACE_ID_LENGTH_MAX);
const publishedTimestamp = z
  .union([timestampNs, z.string().regex(/^(?:0|[1-9][0-9]{0,18})$/)])
  .meta({ id: 'PublishedTimestamp', description: 'UNIX time in nanoseconds, as an integer or its digits' });

/** A publish message of one of the publisher paths. */
function signedPrices<S extends z.ZodType>(signatureType: 'evm' | 'stark', signature: S, externalId: string) {
  const update = z.object({
    oracle_id: z.string().optional().describe('The name of the publisher; it is not kept'),
    asset_id: assetId.describe('The key that the update stands under'),
    trigger: z.string().optional().describe('What made the publisher send it; it is not kept'),
    signed_price: z.object({
      publisher_key: hex.describe(signatureType === 'evm' ? 'Address' : "The public key's x coordinate"),
      external_asset_id: z.string().describe(externalId),
      signature_type: z.literal(signatureType),
      price: quantizedPrice,
      timestamped_signature: z.object({ signature, timestamp: publishedTimestamp, msg_hash: hex }),
      metadata: metadata.optional(),
    }),
  });
  return z.object({
    type: z.literal('signed_prices'),
    trace_id: traceId.nullable().optional().describe('Chosen by the publisher; it comes back in the answer'),
    data: z.record(assetId, update).describe('By asset ID; each update is judged by itself'),
  });
}

export const evmSignedPrices = signedPrices(
  'evm',
  z.object({ r: hex, s: hex, v: hex.describe('`0x1b`, `0x1c`, `0x0` or `0x1`') }),
  'The asset ID itself',
).meta({ id: 'EvmSignedPrices' });

export const starkSignedPrices = signedPrices(
  'stark',
  z.object({ r: hex, s: hex }),
  'Asset ID and oracle ID in hex',
).meta({ id: 'StarkSignedPrices' });

const rejected = z.record(z.string(), z.string()).describe('Asset ID to the reason');

export const ack = z
  .strictObject({
    type: z.literal('ack'),
    trace_id: traceId.optional(),
    accepted: z.array(assetId),
    rejected,
  })
  .meta({ id: 'PublishAck' });

export const publishError = z
  .strictObject({
    type: z.literal('error'),
    trace_id: traceId.optional(),
    error: z.string(),
    rejected: rejected.optional(),
  })
  .meta({ id: 'PublishError' });
