import { z } from 'zod';
import type { SignatureType } from '../../model/asset.js';
import { METADATA_DEPTH_MAX, METADATA_LENGTH_MAX, METADATA_VALUES_MAX } from '../../prices/message.js';
import {
  ATTRIBUTE_MEANINGS,
  ATTRIBUTE_NAMES,
  QUALITY_ATTRIBUTES,
  QUALITY_NAME,
} from '../../wire/attribute_facts.js';
import {
  ACK_TYPE,
  ACKS,
  DEFAULT_ACK,
  SIGNED_PRICES_TYPE,
  TRACE_ID_LENGTH_MAX,
} from '../../wire/publish_message.js';
import { bySignatureType, SIGNATURES } from '../../wire/signatures.js';
import {
  CHANNELS,
  DEFAULT_CHANNEL,
  DEFAULT_ENCODING,
  DEFAULT_MESSAGE_TYPE,
  ENCODINGS,
  ERROR_TYPE,
  MESSAGE_TYPES,
  PING_TYPE,
  PONG_TYPE,
  REQUEST_ID_LENGTH_MAX,
  REQUEST_TYPES,
  TAXONOMY_TYPE,
} from '../../wire/stream.js';
import { STREAM_ATTRIBUTES, type StreamAttribute } from '../../wire/stream_attributes.js';
import { componentName, SIGNATURE_DOCUMENTS } from './signature_documents.js';
import {
  assetId,
  marketStatusCode,
  metadata,
  quantizedPrice,
  streamingAssetId,
  taxonomyId,
  textUpTo,
  timestampNs,
} from './value_schemas.js';

// The messages of the WebSockets. Each message has one definition, and the published AsyncAPI document comes from these schemas.
// Objects from clients may have more fields than the schema names. Objects from the service have no other fields.

const [SUBSCRIBE, UNSUBSCRIBE] = REQUEST_TYPES;
const [UNSIGNED, SIGNED] = MESSAGE_TYPES;

const attributeList = STREAM_ATTRIBUTES.map(
  ({ name }) => `\`${name}\`: ${ATTRIBUTE_MEANINGS[name].rule}`,
).join('. ');
const attributeNames = `(?:${ATTRIBUTE_NAMES.join('|')})`;

/** The query of `/ws`. */
export const streamQuery = z.object({
  channel: z.enum(CHANNELS).default(DEFAULT_CHANNEL).meta({
    title: 'Channel',
    description: 'How often frames come: at that interval, or with `real_time` when a price changed',
  }),
  message_type: z
    .enum(MESSAGE_TYPES)
    .default(DEFAULT_MESSAGE_TYPE)
    .meta({ title: 'MessageType', description: 'The form of the frames' }),
  encoding: z.enum(ENCODINGS).default(DEFAULT_ENCODING).meta({
    title: 'FrameEncoding',
    description:
      '`binary`: a signed frame is a binary message with the bytes of its payload, without JSON and hex; all other messages are text',
  }),
  addtl_attrs: z
    .string()
    .regex(new RegExp(`^${attributeNames}(?:,${attributeNames})*$`))
    .optional()
    .describe(
      `Comma-separated list of what each asset has beside its price. ${attributeList}. \`${QUALITY_NAME}\`: ${QUALITY_ATTRIBUTES.join(', ')}`,
    ),
});

/** The query of the publisher paths. */
export const publishQuery = z.object({
  ack: z.enum(ACKS).default(DEFAULT_ACK).meta({
    title: 'AckMode',
    description:
      '`true`: every message is answered. `durable`: once its effect is on disk, past `fsync`; refused where that cannot be promised',
  }),
});

const requestId = z.union([textUpTo(REQUEST_ID_LENGTH_MAX), z.number()]).meta({
  id: 'RequestID',
  description: 'Chosen by the client; it comes back in the answer, a number digit for digit',
});

const streamingAssetIds = z.array(streamingAssetId);

export const subscribe = z
  .object({
    type: z.literal(SUBSCRIBE),
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
    type: z.literal(UNSUBSCRIBE),
    assets: streamingAssetIds.describe('What to leave; IDs that are not subscribed are ignored'),
    id: requestId.optional().describe('A request that carries one is answered'),
  })
  .meta({ id: 'Unsubscribe' });

export const ping = z
  .object({
    type: z.literal(PING_TYPE),
    id: requestId.optional().describe('It comes back in the answer'),
  })
  .meta({ id: 'Ping' });

export const pong = z
  .strictObject({ type: z.literal(PONG_TYPE), id: requestId.optional() })
  .meta({ id: 'Pong' });

export const taxonomyChanged = z
  .strictObject({
    type: z.literal(TAXONOMY_TYPE),
    ended: streamingAssetIds
      .optional()
      .describe('The former IDs of subscribed assets that ended, or that the token no longer covers'),
    returned: streamingAssetIds
      .optional()
      .describe('The present IDs of assets that had ended; they are subscribed again'),
  })
  .meta({ id: 'TaxonomyChanged' });

const answered = {
  id: requestId,
  assets: streamingAssetIds.describe('The whole set now, ascending'),
  invalid: z.array(z.int()).describe('IDs of the request that are unknown or not covered by the token'),
};
export const subscribed = z
  .strictObject({ type: z.literal(SUBSCRIBE), ...answered })
  .meta({ id: 'Subscribed' });
export const unsubscribed = z
  .strictObject({ type: z.literal(UNSUBSCRIBE), ...answered })
  .meta({ id: 'Unsubscribed' });

export const streamError = z
  .strictObject({
    type: z.literal(ERROR_TYPE),
    error: z.string(),
    id: requestId.optional().describe("The request's, when it carried one that was read"),
  })
  .meta({ id: 'StreamError' });

/** The schemas of values that are more than unsigned integers. */
const VALUES: Readonly<Record<string, z.ZodType>> = { ms: marketStatusCode };

function attributeValue({ name, bytes, none }: StreamAttribute): z.ZodType {
  const value =
    VALUES[name] ??
    z
      .int()
      .min(0)
      .max(256 ** bytes - 1);
  const without = none === undefined ? '' : '; absent for an asset without one';
  return value
    .optional()
    .describe(`Only with \`addtl_attrs=${name}\`. ${ATTRIBUTE_MEANINGS[name].rule}${without}`);
}

export const unsignedFrame = z
  .strictObject({
    type: z.literal(UNSIGNED),
    tax: taxonomyId,
    ts: timestampNs.describe('When the frame was made, in nanoseconds; it always grows'),
    a: z
      .array(
        z.strictObject({
          id: streamingAssetId,
          v: quantizedPrice,
          ...Object.fromEntries(STREAM_ATTRIBUTES.map((one) => [one.field, attributeValue(one)])),
        }),
      )
      .min(1)
      .describe('Ascending by ID'),
  })
  .meta({ id: 'UnsignedFrame' });

export const signedFrame = z
  .strictObject({
    type: z.literal(SIGNED),
    p: z
      .string()
      .regex(/^0x(?:[0-9a-f]{2})+$/)
      .describe('The payload in hex'),
  })
  .meta({ id: 'SignedFrame' });

export const signedPayload = z
  .string()
  .describe('The bytes of the payload')
  .meta({ id: 'SignedPayload', format: 'binary' });

const METADATA_LIMITS =
  `At most ${METADATA_VALUES_MAX} values, ${METADATA_DEPTH_MAX} deep, and ${METADATA_LENGTH_MAX} characters; ` +
  'no signature covers it';
export const traceId = textUpTo(TRACE_ID_LENGTH_MAX);
const publishedTimestamp = z
  .union([
    z.bigint().meta({ type: 'integer', format: 'int64', minimum: 0 }),
    z.string().regex(/^(?:0|[1-9][0-9]{0,17}|[1-8][0-9]{18})$/),
  ])
  .meta({ id: 'PublishedTimestamp', description: 'UNIX time in nanoseconds, as an integer or its digits' });
/** A number of up to 32 bytes in hex. A sender may omit leading zeros. */
const word = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/);
const recovery = z
  .string()
  .regex(/^0x0{0,62}(?:1[bBcC]|[01])$/)
  .describe('`0x1b`, `0x1c`, `0x0` or `0x1`');

/** Makes the schema of a publish message on one of the publisher paths. */
function signedPrices(signatureType: SignatureType) {
  const { keyBytes, hasRecovery, signsNegativePrices } = SIGNATURES[signatureType];
  const { keyField, externalId } = SIGNATURE_DOCUMENTS[signatureType];
  const key = z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{1,${2 * keyBytes}}$`))
    .describe(keyField);
  // A pattern cannot express `2^127 − 1`, so the pattern allows at most 38 digits.
  const price = z
    .string()
    .regex(signsNegativePrices ? /^(?:0|-?[1-9][0-9]{0,37})$/ : /^(?:0|[1-9][0-9]{0,37})$/)
    .describe('The price times 10^18 as a decimal integer');
  const signature = z.object({ r: word, s: word, ...(hasRecovery && { v: recovery }) });
  const update = z.object({
    oracle_id: z.string().optional().describe('The name of the publisher; it is not kept'),
    asset_id: assetId.describe('The key that the update stands under'),
    trigger: z.string().optional().describe('What made the publisher send it; it is not kept'),
    signed_price: z.object({
      publisher_key: key,
      external_asset_id: z.string().describe(externalId),
      signature_type: z.literal(signatureType),
      price,
      timestamped_signature: z.object({ signature, timestamp: publishedTimestamp, msg_hash: word }),
      metadata: metadata.optional().describe(METADATA_LIMITS),
    }),
  });
  return z
    .object({
      type: z.literal(SIGNED_PRICES_TYPE),
      trace_id: traceId
        .nullable()
        .optional()
        .describe('Chosen by the publisher; it comes back in the answer'),
      data: z.record(assetId, update).describe('By asset ID; each update is judged by itself'),
    })
    .meta({ id: `${componentName(signatureType)}SignedPrices` });
}

/** The schemas of publish messages, by signature type. */
export const SIGNED_PRICES = bySignatureType(signedPrices);

const rejected = z.record(z.string(), z.string()).describe('Asset ID to the reason');

export const ack = z
  .strictObject({
    type: z.literal(ACK_TYPE),
    trace_id: traceId.optional(),
    accepted: z.array(assetId),
    rejected,
    durable: z
      .literal('memory')
      .optional()
      .describe(
        'Only with `ack=durable`, and only where `cluster.durable` is `memory`: a power cut may take the accepted updates',
      ),
    error: z
      .string()
      .optional()
      .describe(`The fault of \`trace_id\`: longer than ${TRACE_ID_LENGTH_MAX} characters, or not a string`),
  })
  .meta({ id: 'PublishAck' });

export const publishError = z
  .strictObject({
    type: z.literal(ERROR_TYPE),
    trace_id: traceId.optional(),
    error: z.string(),
    rejected: rejected.optional(),
  })
  .meta({ id: 'PublishError' });
