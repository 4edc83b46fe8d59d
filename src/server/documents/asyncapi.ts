import { API_VERSION, EXACT_NUMBERS, TICKET_SCHEME, TOKEN_SCHEME } from './about.js';
import { CHANNELS, type ChannelDefinition } from './channels.js';
import { documentSchemas, type JsonSchema } from './json_schema.js';
import {
  MESSAGES,
  type MessageDefinition,
  type MessageName,
  oraclePricesMessage,
} from './message_catalogue.js';

export const ASYNCAPI_VERSION = '3.0.0';

export type AsyncApiDocument = ReturnType<typeof asyncApiDocument>;

/**
 * Makes the AsyncAPI 3 document of the WebSockets from the messages that the code uses.
 * @param serviceName the configuration's `service.name`
 */
export function asyncApiDocument(serviceName: string) {
  const messages = Object.entries<MessageDefinition>({
    ...MESSAGES,
    oraclePrices: oraclePricesMessage(serviceName),
  });
  const channels = Object.entries(CHANNELS);
  const schemas = documentSchemas([
    ...messages.map(([, { schema }]) => schema),
    ...channels.map(([, { query }]) => query),
  ]);
  return {
    asyncapi: ASYNCAPI_VERSION,
    info: {
      title: 'tickseal WebSocket APIs',
      version: API_VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache License 2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    servers: { tls: serverEntry('wss', 'Where TLS is set up'), plain: serverEntry('ws', 'Where it is not') },
    channels: Object.fromEntries(
      channels.map(([name, channel]) => [name, channelObject(channel, schemas.of(channel.query))]),
    ),
    operations: Object.fromEntries(channels.flatMap(([name, channel]) => operationEntries(name, channel))),
    components: {
      messages: Object.fromEntries(
        messages.map(([name, { schema, example, ...about }]) => [
          name,
          { name, ...about, payload: schemas.of(schema), examples: [{ payload: example }] },
        ]),
      ),
      schemas: schemas.components,
      securitySchemes: {
        token: { type: 'httpApiKey', ...TOKEN_SCHEME },
        ticket: { type: 'httpApiKey', ...TICKET_SCHEME },
      },
    },
  };
}

const DESCRIPTION = `Streams of prices to clients, and of signed prices from publishers.

- Messages are JSON in text frames, either way; only signed frames with \`encoding=binary\` are binary.
- ${EXACT_NUMBERS}
- The request that opens a connection carries the header \`Authorization: Basic <TOKEN>\`; on the publisher paths it may carry a \
login by signature instead, and on the others a ticket, with which web pages log in.`;

function serverEntry(protocol: 'ws' | 'wss', description: string) {
  return {
    host: '{host}',
    protocol,
    description,
    variables: { host: { default: 'localhost:8080', description: 'Where this document was read from' } },
    security: ['token', 'ticket'].map((name) => ({ $ref: `#/components/securitySchemes/${name}` })),
  };
}

function channelObject(
  { address, group, title, description, operations }: ChannelDefinition,
  query: JsonSchema,
) {
  const names = Object.values(operations).flatMap(({ messages, reply = [] }) => [...messages, ...reply]);
  const messages = [...new Set(names)].map(
    (name) => [name, { $ref: `#/components/messages/${name}` }] as const,
  );
  return {
    address,
    title,
    description,
    tags: [{ name: group }],
    messages: Object.fromEntries(messages),
    bindings: { ws: { method: 'GET', query, bindingVersion: '0.1.0' } },
  };
}

function operationEntries(channelName: string, { operations }: ChannelDefinition) {
  const channel = { $ref: `#/channels/${channelName}` };
  const references = (names: readonly MessageName[]) =>
    names.map((name) => ({ $ref: `${channel.$ref}/messages/${name}` }));
  return Object.entries(operations).map(([name, { action, summary, messages, reply }]) => {
    const operation = {
      action,
      summary,
      channel,
      messages: references(messages),
      ...(reply && { reply: { channel, messages: references(reply) } }),
    };
    return [name, operation] as const;
  });
}
