import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'tap';
import { bodyOf, routesOf } from '../../scripts/site/described_routes.js';
import type { AsyncApiDocument } from '../../src/server/documents/asyncapi.js';
import type { OpenApiDocument } from '../../src/server/documents/openapi.js';
import { ATTRIBUTE_NAMES } from '../../src/wire/attribute_facts.js';
import { CLOSE_PATHS, CLOSES, type Close, type ClosePaths } from '../../src/wire/close_codes.js';
import { DOCUMENT_PATHS, EVENTS_PATH, REST_PATHS, SOCKET_PATHS } from '../../src/wire/paths.js';
import { SIMPLIFIED_LAYOUT, VERSIONED_LAYOUT } from '../../src/wire/payload_fields.js';
import { ACKS } from '../../src/wire/publish_message.js';
import { RECENT_WINDOW_S, RESOLUTIONS } from '../../src/wire/rest_values.js';
import { pushedAssetsPath } from '../../src/wire/service_name.js';
import { BAD_MESSAGES_MAX, CHANNELS, MESSAGE_TYPES } from '../../src/wire/stream.js';

// Tests that the published documents and the texts for readers agree with `src/wire`.

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const routes = routesOf('acme');
const openApi = JSON.parse(bodyOf(routes, DOCUMENT_PATHS.openApi)) as OpenApiDocument;
const asyncApi = JSON.parse(bodyOf(routes, DOCUMENT_PATHS.asyncApi)) as AsyncApiDocument;
const markdown = [
  'README.md',
  ...readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('src', file)),
]
  .map((file) => readFileSync(join(ROOT, file), 'utf8'))
  .join('\n');
const codesOf = (paths: readonly ClosePaths[]) =>
  Object.entries<Close>(CLOSES)
    .filter(([name]) => paths.includes(CLOSE_PATHS[name as keyof typeof CLOSES]))
    .map(([, { code, reconnect }]) => ({ code, reconnect }));

test('the paths', async (t) => {
  t.same(
    Object.keys(openApi.paths).sort(),
    [
      ...Object.values(REST_PATHS),
      EVENTS_PATH,
      ...Object.values(DOCUMENT_PATHS),
      pushedAssetsPath('acme'),
    ].sort(),
  );
  t.same(
    Object.values(asyncApi.channels).map(({ address }) => address),
    SOCKET_PATHS,
  );
});

test('the close codes of each path, and whether to connect again', async (t) => {
  for (const [name, { description }] of Object.entries(asyncApi.channels)) {
    const listed = [...description.matchAll(/^- (\d{4}): .*?; (do not )?connect again$/gm)].map(
      ([, code, not]) => ({ code: Number(code), reconnect: not === undefined }),
    );
    t.same(listed, codesOf(['all', name.startsWith('publish') ? 'publish' : 'stream']), name);
  }
  const [, sent = '', again = ''] =
    /The service closes a stream with([\s\S]*?)\. After([\s\S]*?)a client should connect again/.exec(
      markdown,
    ) ?? [];
  const numbersIn = (text: string) => [...text.matchAll(/\b\d{4}\b/g)].map(([code]) => Number(code));
  const all = codesOf(['all', 'stream']);
  t.same(numbersIn(sent), [...new Set(all.map(({ code }) => code))]);
  t.same(
    numbersIn(again).sort(),
    [...new Set(all.filter(({ reconnect }) => reconnect).map(({ code }) => code))].sort(),
  );
  t.match(sent, `1008 (${BAD_MESSAGES_MAX} bad messages`);
});

test('the parameters', async (t) => {
  const stream = asyncApi.channels['stream']!.bindings.ws.query.properties!;
  t.same(stream['channel']!.enum, CHANNELS);
  t.same(stream['message_type']!.enum, MESSAGE_TYPES);
  t.same(asyncApi.channels['publishEvm']!.bindings.ws.query.properties!['ack']!.enum, ACKS);
  const row = (name: string) => new RegExp(`^\\| \`${name}\` \\|(.*)$`, 'm').exec(markdown)?.[1] ?? '';
  const listed = (name: string) => [
    ...new Set([...row(name).matchAll(/`(\w+)`/g)].map(([, value]) => value)),
  ];
  t.same(listed('channel'), CHANNELS);
  t.same(listed('message_type'), MESSAGE_TYPES);
  t.same(listed('addtl_attrs'), ATTRIBUTE_NAMES);
  const parameter = (path: string, name: string) =>
    openApi.paths[path]!.get!.parameters.find((one) => one.name === name)!;
  t.same(parameter(REST_PATHS.history, 'resolution').schema.enum, RESOLUTIONS);
  const window = `last ${RECENT_WINDOW_S / 60} minutes`;
  t.match(parameter(REST_PATHS.recent, 'timestamp').description, window);
  t.match(row(REST_PATHS.recent), window);
});

test('the table of payloads for readers', async (t) => {
  const table = /^\| Simplified .*\n\|[-|]*\n((?:\|.*\n)+)/m.exec(markdown)?.[1] ?? '';
  const rows = table.trim().split('\n');
  const column = (at: number) => rows.map((row) => row.split('|')[at]!.trim()).filter((cell) => cell !== '');
  for (const [{ head, asset }, at] of [
    [SIMPLIFIED_LAYOUT, 1],
    [VERSIONED_LAYOUT, 4],
  ] as const) {
    const sizes = [...head.fields, ...asset.fields].map(({ bytes }) => bytes);
    t.same(column(at + 1).map(Number), sizes);
    for (const [i, { name }] of head.fields.entries()) t.match(column(at)[i], name);
  }
});
