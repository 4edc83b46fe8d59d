import { createHash } from 'node:crypto';
import { test } from 'tap';
import type { AsyncApiDocument } from '../../../src/server/documents/asyncapi.js';
import { html } from '../../../src/server/documents/html.js';
import { renderMarkdown } from '../../../src/server/documents/markdown.js';
import { type OpenApiDocument, operationsOf } from '../../../src/server/documents/openapi.js';
import { PAGE_HEADERS } from '../../../src/server/documents/page_frame.js';
import { PAGE_PATHS } from '../../../src/wire/paths.js';
import { bodyOf, routesOf } from './routes.js';

const routes = routesOf('service');
const page = bodyOf(routes, '/docs');
const rest = JSON.parse(bodyOf(routes, '/openapi.json')) as OpenApiDocument;
const sockets = JSON.parse(bodyOf(routes, '/asyncapi.json')) as AsyncApiDocument;

test('the page shows every path, channel, parameter, message and schema', async (t) => {
  for (const { path, operation } of operationsOf(rest)) {
    t.ok(page.includes(`</span> ${path}`), path);
    for (const { name } of operation.parameters) t.ok(page.includes(`<code>${name}</code>`), name);
  }
  for (const { address, title } of Object.values(sockets.channels))
    t.ok(page.includes(`</span> ${address}: ${title}`), address);
  for (const { title } of Object.values(sockets.components.messages))
    t.ok(page.includes(`<h3>${title} `), title);
  for (const name of Object.keys({ ...rest.components.schemas, ...sockets.components.schemas }))
    t.ok(page.includes(`<section id="schema-${name}">`), name);
});

test('the text for language models is short, has every path, and its links lead to the page', async (t) => {
  const text = bodyOf(routes, '/llms.txt');
  t.ok(text.length < 10_000, `${text.length} characters`);
  t.match(text, /^# tickseal\n\n> /);
  for (const { path } of operationsOf(rest)) t.ok(text.includes(`${path}](`), path);
  for (const { address } of Object.values(sockets.channels)) t.ok(text.includes(`[${address}](`), address);
  for (const [, anchor = ''] of text.matchAll(/\(\/docs#([^)]*)\)/g))
    t.ok(page.includes(` id="${anchor}"`), anchor);
});

for (const [path, page] of [
  ['/docs', bodyOf(routes, '/docs')],
  ['/docs/client', bodyOf(routes, '/docs/client')],
] as const) {
  test(`${path}: the page loads nothing, and its links lead somewhere`, async (t) => {
    t.notMatch(
      page,
      /<(?:script|link|img|iframe|object|embed|form|base)\b|\ssrc=|\son\w+=|style=|@import|url\(/i,
    );
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    t.equal(new Set(ids).size, ids.length, 'every ID stands once');
    const targets = [...page.matchAll(/ href="([^"]*)"/g)].map(([, target = '']) => target);
    const isKnown = (target: string) =>
      target.startsWith('#')
        ? ids.includes(target.slice(1))
        : routes.has(target) || target === PAGE_PATHS.home;
    t.ok(targets.length > 0);
    t.same(
      targets.filter((target) => !isKnown(target)),
      [],
    );
  });

  test(`${path}: on a phone the contents come first, and what they are about behind them`, async (t) => {
    t.ok(page.indexOf('<main>') < page.indexOf('<nav id="contents"'));
    t.match(page, /<a class="jump" href="#contents">/);
  });

  test(`${path}: its own style is all that the policy lets it use`, async (t) => {
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? [];
    const sha256 = createHash('sha256').update(style).digest('base64');
    const policy = PAGE_HEADERS['Content-Security-Policy'].split('; ');
    t.same(policy.slice(0, 2), ["default-src 'none'", `style-src 'sha256-${sha256}'`]);
    t.same(routes.get(path)?.headers, PAGE_HEADERS);
  });

  test(`${path}: tags are closed in order, and text is never markup`, async (t) => {
    const open: string[] = [];
    const outOfOrder: string[] = [];
    for (const [, slash, name = ''] of page.matchAll(/<(\/?)([a-z0-9]+)\b[^>]*>/g)) {
      if (name === 'meta') continue;
      if (slash === '') open.push(name);
      else if (name !== open.pop()) outOfOrder.push(name);
    }
    t.same(outOfOrder, []);
    t.same(open, []);
    t.equal(html`<p>${'<b>"&\''}</p>`.text, '<p>&#60;b&#62;&#34;&#38;&#39;</p>');
  });
}

test('descriptions are CommonMark', async (t) => {
  t.equal(
    renderMarkdown('A `<b>` text\nof two lines\n\n- one\n- `two`\n\n| A | B |\n|---|---|\n| `1` | x |').text,
    '<p>A <code>&#60;b&#62;</code> text of two lines</p>\n<ul><li>one</li><li><code>two</code></li></ul>\n' +
      '<div class="wide" tabindex="0"><table><thead><tr><th>A</th><th>B</th></tr></thead>\n' +
      '<tbody><tr><td><code>1</code></td><td>x</td></tr>\n</tbody></table></div>',
  );
});
