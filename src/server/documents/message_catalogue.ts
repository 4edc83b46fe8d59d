import type { z } from 'zod';
import { REST_PATHS } from '../../wire/paths.js';
import { UNKNOWN_ASSET } from '../../wire/publish_message.js';
import { DEFAULT_SERVICE_NAME, signedPriceField } from '../../wire/service_name.js';
import { SIGNATURE_TYPES, SIGNATURES, type SignatureType } from '../../wire/signatures.js';
import {
  aggregateError,
  aggregateSubscribe,
  aggregateSubscribed,
  aggregateUnsubscribe,
  aggregateUnsubscribed,
  oraclePrices,
} from '../schemas/aggregate_schemas.js';
import {
  ack,
  ping,
  pong,
  publishError,
  SIGNED_PRICES,
  signedFrame,
  signedPayload,
  streamError,
  subscribe,
  subscribed,
  taxonomyChanged,
  unsignedFrame,
  unsubscribe,
  unsubscribed,
} from '../schemas/message_schemas.js';
import { SIGNATURE_DOCUMENTS } from '../schemas/signature_documents.js';
import { describePayload } from './payload_layout.js';

/** A message of a WebSocket with its purpose and its schema. */
export interface MessageDefinition {
  readonly title: string;
  readonly summary: string;
  readonly description?: string;
  /** The content type, if the message is not JSON. */
  readonly contentType?: string;
  readonly schema: z.ZodType;
  readonly example: unknown;
}

export type MessageName = keyof typeof MESSAGES;

const SIGNED_PAYLOAD =
  '0x690a1cce3cf72e889b699ef800fb80ba47c123ce7422517bfcd2ce0c701423a12938fb6fcf4424c21e39688cd41dd8919b149642b590328ada7532c88b5f0d6b010001187f4dcc627041f8000100000000000000056bc75e2d63100000';

const { signature: SIGNATURE, msg_hash: HASH } =
  SIGNATURE_DOCUMENTS.evm.update.signed_price.timestamped_signature;

/** @param serviceName the first word of the field `service_signed_price` */
export function oraclePricesMessage(serviceName: string): MessageDefinition {
  return {
    title: 'Signed aggregates',
    summary: 'The newest aggregates of some of the subscribed assets, as `/v1/prices/latest` answers them',
    schema: oraclePrices(serviceName),
    example: {
      type: 'oracle_prices',
      trace_id: '187b0a4e5c1f2300-1',
      data: {
        BTCUSD: {
          timestamp: 1710191092123456800,
          asset_id: 'BTCUSD',
          signature_type: 'evm',
          trigger: 'clock',
          price: '72147681412670819000000',
          [signedPriceField(serviceName)]: SERVICE_SIGNED_PRICE,
          signed_prices: [],
        },
      },
    },
  };
}

const SERVICE_SIGNED_PRICE = {
  public_key: '0x0a803F9b1CCe32e2773e0d2e98b37E0775cA5d44',
  encoded_asset_id: 'QlRDVVNE',
  price: '72147681412670819000000',
  timestamped_signature: {
    signature: SIGNATURE,
    timestamp: 1710191092500000000,
    msg_hash: HASH,
  },
  publisher_merkle_root: HASH,
  calculation_alg: {
    type: 'median',
    version: 'v1',
    checksum: '9be7e9f9ed459417d96112a7467bd0b27575a2c7847195c68f805b70ce1795ba',
  },
};

type PublishMessageName = `${SignatureType}SignedPrices`;

/** Returns the name of the message with which publishers send prices of a signature type. */
export function publishMessageName(type: SignatureType): PublishMessageName {
  return `${type}SignedPrices`;
}

function publishMessages(): Readonly<Record<PublishMessageName, MessageDefinition>> {
  const messages = SIGNATURE_TYPES.map((type) => {
    const { curve, update } = SIGNATURE_DOCUMENTS[type];
    const message: MessageDefinition = {
      title: `Signed prices, ${SIGNATURES[type].title}`,
      summary: `Updates that a publisher signed on ${curve}`,
      schema: SIGNED_PRICES[type],
      example: { type: 'signed_prices', trace_id: 'a-1', data: { [update.asset_id]: update } },
    };
    return [publishMessageName(type), message];
  });
  return Object.fromEntries(messages) as Record<PublishMessageName, MessageDefinition>;
}

/** All messages, in both directions. */
export const MESSAGES = {
  subscribe: {
    title: 'Subscribe',
    summary: 'Adds assets to what the connection is sent',
    schema: subscribe,
    example: { type: 'subscribe', assets: [1, 2], id: 'first' },
  },
  subscribed: {
    title: 'Answer to subscribe',
    summary: 'Comes when the request carried an `id`',
    schema: subscribed,
    example: { type: 'subscribe', id: 'first', assets: [1, 2], invalid: [] },
  },
  unsubscribe: {
    title: 'Unsubscribe',
    summary: 'Takes assets from what the connection is sent',
    schema: unsubscribe,
    example: { type: 'unsubscribe', assets: [2], id: 2 },
  },
  unsubscribed: {
    title: 'Answer to unsubscribe',
    summary: 'Comes when the request carried an `id`',
    schema: unsubscribed,
    example: { type: 'unsubscribe', id: 2, assets: [1], invalid: [] },
  },
  ping: {
    title: 'Ping',
    summary:
      'Asks whether the connection still works, where a client cannot send pings of the protocol, as in a browser',
    schema: ping,
    example: { type: 'ping', id: 3 },
  },
  pong: {
    title: 'Answer to a ping',
    summary: 'Comes at once',
    schema: pong,
    example: { type: 'pong', id: 3 },
  },
  taxonomyChanged: {
    title: 'Taxonomy changed',
    summary: `A reload changed assets of this connection: they have other IDs in the frames behind it, ended or returned. Read \`${REST_PATHS.taxonomy}\` again`,
    schema: taxonomyChanged,
    example: { type: 'taxonomy', ended: [2], returned: [7] },
  },
  streamError: {
    title: 'Error',
    summary: 'The request before it changed nothing; the connection stays open',
    schema: streamError,
    example: { type: 'error', error: 'unknown asset IDs, or not covered by the token: 77', id: 'first' },
  },
  unsigned: {
    title: 'Unsigned frame',
    summary: 'Prices in readable form, which nothing proves',
    schema: unsignedFrame,
    // A double holds the timestamps of the examples exactly.
    example: {
      type: 'unsigned',
      tax: 1,
      ts: 1757543080505451000,
      a: [{ id: 1, v: '113762000000000000000000' }],
    },
  },
  signed: {
    title: 'Signed frame',
    summary: 'Prices as one bit-packed payload with an ECDSA signature; all fields are big-endian',
    description: describePayload(),
    schema: signedFrame,
    example: {
      type: 'signed_ecdsa',
      p: SIGNED_PAYLOAD,
    },
  },
  signedBinary: {
    title: 'Signed frame, binary',
    summary: 'The bytes of the payload `p` of a signed frame, as a binary message; the example is in hex',
    contentType: 'application/octet-stream',
    schema: signedPayload,
    example: SIGNED_PAYLOAD.slice(2),
  },
  ...publishMessages(),
  ack: {
    title: 'Acknowledgement',
    summary: 'What became of each update; with `ack=true` or `ack=durable`',
    schema: ack,
    example: { type: 'ack', trace_id: 'a-1', accepted: ['BTCUSD'], rejected: { NOUSD: UNKNOWN_ASSET } },
  },
  publishError: {
    title: 'Error',
    summary: 'The message was not taken, or without `ack` some of its updates were not',
    schema: publishError,
    example: {
      type: 'error',
      trace_id: 'a-1',
      error: '1 of 2 updates rejected',
      rejected: { NOUSD: UNKNOWN_ASSET },
    },
  },
  aggregateSubscribe: {
    title: 'Subscribe to aggregates',
    summary:
      'Adds assets to what the connection is sent. Unknown ones are named in an error, and are sent when they exist',
    schema: aggregateSubscribe,
    example: { type: 'subscribe', data: ['BTCUSD', 'ETHUSD'], trace_id: 'a-1' },
  },
  aggregateUnsubscribe: {
    title: 'Unsubscribe from aggregates',
    summary: 'Takes assets from what the connection is sent, also those that do not exist yet',
    schema: aggregateUnsubscribe,
    example: { type: 'unsubscribe', data: ['ETHUSD'] },
  },
  aggregateSubscribed: {
    title: 'Answer to subscribe to aggregates',
    summary: 'The whole set now',
    schema: aggregateSubscribed,
    example: { type: 'subscribe', trace_id: 'a-1', data: { subscriptions: ['BTCUSD', 'ETHUSD'] } },
  },
  aggregateUnsubscribed: {
    title: 'Answer to unsubscribe from aggregates',
    summary: 'The whole set now',
    schema: aggregateUnsubscribed,
    example: { type: 'unsubscribe', data: { subscriptions: ['BTCUSD'] } },
  },
  aggregateError: {
    title: 'Error',
    summary: 'What of the request before it was not done; the connection stays open',
    schema: aggregateError,
    example: { type: 'error', trace_id: 'a-1', error: 'unknown symbols, or not covered by the token: NOUSD' },
  },
  oraclePrices: oraclePricesMessage(DEFAULT_SERVICE_NAME),
} satisfies Record<string, MessageDefinition>;
