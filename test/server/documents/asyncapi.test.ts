import assert from 'node:assert/strict';
import asyncApiSpecs from '@asyncapi/specs';
import { Ajv } from 'ajv';
import ajvFormats from 'ajv-formats';
import fc from 'fast-check';
import { test } from 'tap';
import { bodyOf, routesOf } from '../../../scripts/site/described_routes.js';
import { readPublishMessage } from '../../../src/prices/message.js';
import type { AsyncApiDocument } from '../../../src/server/documents/asyncapi.js';
import { ping, streamQuery, subscribe, unsubscribe } from '../../../src/server/schemas/message_schemas.js';
import { readRequest } from '../../../src/stream/request.js';
import { parseStreamOptions } from '../../../src/stream/stream_options.js';
import { holds } from '../../holds.js';
import { danglingReferences, messageFinder, messageNames } from './checker.js';

const document = JSON.parse(bodyOf(routesOf('service'), '/asyncapi.json')) as AsyncApiDocument;
const { components } = document;

test('the document is valid AsyncAPI 3.0', async (t) => {
  // The validator must not add its own schema of draft 07, because the published schema contains that schema.
  const ajv = new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false });
  ajvFormats.default(ajv);
  const validate = ajv.compile(asyncApiSpecs.schemas['3.0.0'] as object);
  t.ok(validate(document), ajv.errorsText(validate.errors));
  t.same(danglingReferences(document), []);
  const used = Object.values(document.operations).flatMap(({ messages, reply }) =>
    [...messages, ...(reply?.messages ?? [])].map(({ $ref }) => $ref.split('/').at(-1)),
  );
  t.same(new Set(used), new Set(Object.keys(components.messages)), 'every message is sent or received');
});

test('every example is one of its message, and of no other that the same side sends', async (t) => {
  const find = messageFinder(document);
  for (const channel of Object.keys(document.channels)) {
    for (const from of ['client', 'service'] as const) {
      for (const name of messageNames(document, channel, from)) {
        const example = components.messages[name]!.examples[0]!.payload;
        t.equal(find(channel, from, JSON.stringify(example)), name);
      }
    }
  }
});

test('the documented requests are the ones that are understood', async (t) => {
  const anything = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.double());
  const request = fc.record(
    {
      type: fc.oneof(fc.constantFrom('subscribe', 'unsubscribe', 'ping'), anything),
      assets: fc.oneof(fc.array(fc.integer({ min: 0, max: 65_535 })), fc.array(anything), anything),
      id: fc.oneof(fc.string({ minLength: 255, maxLength: 258 }), anything),
      ignore_invalid: fc.oneof(fc.boolean(), anything),
      other: anything,
    },
    { requiredKeys: [] },
  );
  const uint16 = (id: unknown) => typeof id === 'number' && id >= 0 && id <= 65_535;
  holds(
    t,
    fc.property(request, (sent) => {
      const text = JSON.stringify(sent);
      const value = JSON.parse(text);
      const read = readRequest(text);
      const documented = value.type === 'subscribe' ? subscribe : value.type === 'ping' ? ping : unsubscribe;
      if (documented.safeParse(value).success) {
        assert.ok(!('error' in read), text);
      } else if (!('error' in read)) {
        assert.ok(read.type !== 'ping' && !value.assets.every(uint16), `${text} is understood`);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('the documented query of /ws is the one that is understood', async (t) => {
  const value = (...names: string[]) => fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 5 }));
  const query = fc.record(
    {
      channel: value('10ms', '1s', 'real_time', '2s'),
      message_type: value('unsigned', 'signed_ecdsa'),
      encoding: value('json', 'binary', 'hex'),
      addtl_attrs: value('ms', 'ms,ms', '', 'ms,', 'xs'),
      other: fc.string(),
    },
    { requiredKeys: [] },
  );
  holds(
    t,
    fc.property(query, (sent) => {
      const options = parseStreamOptions(new Map(Object.entries(sent)));
      const documented = streamQuery.safeParse(sent);
      assert.equal(typeof options === 'string', !documented.success, JSON.stringify(sent));
      if (typeof options !== 'string')
        assert.deepEqual(
          [documented.data?.channel, documented.data?.message_type],
          [options.channel, options.messageType],
        );
    }),
    { numRuns: 1_000 },
  );
});

test('the documented publish message is the one that is understood', async (t) => {
  for (const name of ['evmSignedPrices', 'starkSignedPrices'] as const) {
    const text = JSON.stringify(components.messages[name]!.examples[0]!.payload);
    t.match(readPublishMessage(text, 1), { ok: true, traceId: 'a-1', malformed: new Map() });
  }
});
