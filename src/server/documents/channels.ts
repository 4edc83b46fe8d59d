import type { z } from 'zod';
import { CLOSE_MEANINGS, CLOSE_PATHS, CLOSES, type Close, type ClosePaths } from '../../wire/close_codes.js';
import { PUBLISH_PATHS, STREAM_PATH, SUBSCRIBE_PATHS } from '../../wire/paths.js';
import { SIGNATURE_TYPES, SIGNATURES, type SignatureType } from '../../wire/signatures.js';
import { aggregateQuery } from '../schemas/aggregate_schemas.js';
import { publishQuery, streamQuery } from '../schemas/message_schemas.js';
import { componentName } from '../schemas/signature_documents.js';
import { type MessageName, publishMessageName } from './message_catalogue.js';
import type { RouteGroupName } from './route_groups.js';

/** An exchange on a channel, from the view of the service. */
export interface OperationDefinition {
  readonly action: 'send' | 'receive';
  readonly summary: string;
  readonly messages: readonly MessageName[];
  readonly reply?: readonly MessageName[];
}

export interface ChannelDefinition {
  readonly address: string;
  readonly group: RouteGroupName;
  readonly title: string;
  readonly description: string;
  readonly query: z.ZodObject;
  readonly operations: Readonly<Record<string, OperationDefinition>>;
}

const BEFORE_THE_UPGRADE = `Before the upgrade an HTTP status and an \`ErrorResponse\` say what is wrong:

- 400: a query parameter has another value than those allowed, or is repeated
- 401: the access token is missing or not known; a ticket is not known, was used or is too old; or a login by signature is not right
- 403: the access token lacks the scope, the publisher key is not listed or of another signature type, or the web page may open no streams
- 426: the request asks for no WebSocket
- 429: the token has as many connections as \`limits.connections_per_token\` or \`limits.publish_connections_per_token\` allows, it has sent more bad messages than \
\`limits.bad_messages_per_second\` or more control messages than \`limits.control_messages_per_second\` allows, or the \
client address has made too many failed logins or refused requests
- 503: the service is full or shutting down

`;

/** All WebSocket paths. */
export const CHANNELS: Readonly<Record<string, ChannelDefinition>> = {
  stream: {
    address: STREAM_PATH,
    group: 'streams',
    title: 'Streaming',
    description: `Prices of subscribed assets, one frame per connection and tick with all assets that it holds.

- Fixed channels send at wall-clock multiples of their interval, each time every subscribed asset that has a live price.
- \`real_time\` sends the assets whose price changed, at most once a millisecond; newly subscribed assets come at once.
- A slow reader gets the newest values when it can read again; frames in between are left out.
- An asset that a reload removes has ended; it is subscribed again when another reload returns it, also under another ID. Until \
then it takes one of the \`limits.subscriptions_per_connection\`, unless a new subscription needs it.

${BEFORE_THE_UPGRADE}${closeCodes(['all', 'stream'])}`,
    query: streamQuery,
    operations: {
      subscribe: {
        action: 'receive',
        summary: 'Subscribe to assets',
        messages: ['subscribe'],
        reply: ['subscribed', 'streamError'],
      },
      unsubscribe: {
        action: 'receive',
        summary: 'Unsubscribe from assets',
        messages: ['unsubscribe'],
        reply: ['unsubscribed', 'streamError'],
      },
      ping: {
        action: 'receive',
        summary: 'Ask whether the connection works; counts as a control message',
        messages: ['ping'],
        reply: ['pong', 'streamError'],
      },
      sendTaxonomyChanged: {
        action: 'send',
        summary:
          'Subscribed assets that got other IDs, ended or returned, after a reload of the configuration',
        messages: ['taxonomyChanged'],
      },
      sendUnsigned: {
        action: 'send',
        summary: 'Frames of connections with `message_type=unsigned`',
        messages: ['unsigned'],
      },
      sendSigned: {
        action: 'send',
        summary: 'Frames of connections with `message_type=signed_ecdsa`',
        messages: ['signed', 'signedBinary'],
      },
    },
  },
  ...Object.fromEntries([
    ...SIGNATURE_TYPES.map((type) => [`publish${componentName(type)}`, publishChannel(type)] as const),
    ...SIGNATURE_TYPES.map((type) => [`subscribe${componentName(type)}`, subscribeChannel(type)] as const),
  ]),
};

function publishChannel(type: SignatureType): ChannelDefinition {
  const { title: kind } = SIGNATURES[type];
  return {
    address: PUBLISH_PATHS[type],
    group: 'publishing',
    title: `Publishing, ${kind} signatures`,
    description: `Takes updates of publishers with ${kind} signatures. Each update of a message is judged by itself: the \
good ones count, the bad ones are reported.

- Without \`ack\` only what is wrong is reported.
- Replies wait for a publisher that does not read and are then dropped; it is never closed for that.

${BEFORE_THE_UPGRADE}${closeCodes(['all', 'publish'])}`,
    query: publishQuery,
    operations: {
      [`publish${componentName(type)}Prices`]: {
        action: 'receive',
        summary: 'Publish signed prices',
        messages: [publishMessageName(type)],
        reply: ['ack', 'publishError'],
      },
      [`ping${kind}Publishing`]: {
        action: 'receive',
        summary: 'Ask whether the connection works',
        messages: ['ping'],
        reply: ['pong'],
      },
    },
  };
}

function subscribeChannel(type: SignatureType): ChannelDefinition {
  const { title: kind } = SIGNATURES[type];
  return {
    address: SUBSCRIBE_PATHS[type],
    group: 'streams',
    title: `Signed aggregates, ${kind} signatures`,
    description: `Sends the aggregates of subscribed assets with ${kind} signatures: each at once when it is subscribed, and then whenever \
one is signed. An asset is named by its symbol.

- What is signed together comes in one frame.
- A symbol that no asset has is kept: its asset is sent when a reload adds it, or adds it again. A connection keeps at most \
\`limits.subscriptions_per_connection\` symbols, with those that are sent; further ones are named in an error.
- A slow reader gets the newest aggregates when it can read again; those in between are left out.

${BEFORE_THE_UPGRADE}${closeCodes(['all', 'stream'])}`,
    query: aggregateQuery,
    operations: {
      [`subscribe${kind}Aggregates`]: {
        action: 'receive',
        summary: 'Subscribe to assets',
        messages: ['aggregateSubscribe'],
        reply: ['aggregateSubscribed', 'aggregateError'],
      },
      [`unsubscribe${kind}Aggregates`]: {
        action: 'receive',
        summary: 'Unsubscribe from assets',
        messages: ['aggregateUnsubscribe'],
        reply: ['aggregateUnsubscribed', 'aggregateError'],
      },
      [`ping${kind}Aggregates`]: {
        action: 'receive',
        summary: 'Ask whether the connection works; counts as a control message',
        messages: ['ping'],
        reply: ['pong', 'aggregateError'],
      },
      [`send${kind}Aggregates`]: {
        action: 'send',
        summary: 'The newest aggregates',
        messages: ['oraclePrices'],
      },
    },
  };
}

function closeCodes(paths: readonly ClosePaths[]): string {
  const rows = Object.entries<Close>(CLOSES)
    .filter(([name]) => paths.includes(CLOSE_PATHS[name as keyof typeof CLOSES]))
    .map(([name, { code, reconnect }]) => {
      const meaning = CLOSE_MEANINGS[name as keyof typeof CLOSES];
      return `- ${code}: ${meaning}; ${reconnect ? 'connect again' : 'do not connect again'}`;
    });
  return ['The service closes a connection with', '', ...rows].join('\n');
}
