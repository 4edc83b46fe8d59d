import MiniSearch, { type AsPlainObject } from 'minisearch';
import { test } from 'tap';
import { SITE_GROUPS } from '../../scripts/site/contents.js';
import { describedDocuments } from '../../scripts/site/described_routes.js';
import { splitSections } from '../../scripts/site/markdown.js';
import { SEARCH_OPTIONS, type SearchEntry } from '../../scripts/site/search_options.js';
import * as client from '../../src/client/index.js';
import { operationsOf } from '../../src/server/documents/openapi.js';
import { loadPages, SITE } from '../../src/server/live_page/page_files.js';
import { readPage } from '../pages.js';

// Tests of the built site of documents.

const files = loadPages([{ ...SITE, home: 'index.html', files: '' }]);
const texts = new Map([...files].map(([name, { bodies }]) => [name, String(bodies.identity)]));
const pages = [...texts].filter(([name]) => name.endsWith('.html'));
const idsIn = (page: string) => [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!);

test('every link of the site leads somewhere, relative to its page', async (t) => {
  let links = 0;
  for (const [name, page] of pages) {
    t.same(repeated(idsIn(page)), [], `${name}: every ID stands once`);
    for (const [, target = ''] of page.matchAll(/ (?:href|src)="([^"]*)"/g)) {
      if (/^https:/.test(target)) continue;
      links++;
      const [file = '', fragment] = target.split('#');
      const found = file === '' ? page : texts.get(file);
      t.ok(found !== undefined, `${name} → ${target}`);
      if (fragment !== undefined) t.ok(idsIn(found!).includes(fragment), `${name} → ${target}`);
    }
  }
  t.ok(links > 1_000, `${links} links`);
});

test('a page runs no script of its own and loads nothing from elsewhere', async (t) => {
  for (const [name, page] of pages) {
    const markup = page.replaceAll(/<pre[\s\S]*?<\/pre>/g, '');
    t.notMatch(
      markup,
      /<script(?![^>]* src="site\.js")|<style|\sstyle=|<(?:img|iframe|object|embed|base)\b/,
      name,
    );
    t.notMatch(markup, /\son\w+=/, name);
  }
  t.notMatch(texts.get('site.css'), /@import|url\(/);
});

test('every path, channel, message, schema and export has its section', async (t) => {
  const { rest, sockets } = describedDocuments();
  const ids = new Set(pages.flatMap(([name, page]) => idsIn(page).map((id) => `${name}#${id}`)));
  for (const { path, operation } of operationsOf(rest))
    t.ok(ids.has(`${operation.tags[0]}.html#${operation.operationId}`), path);
  for (const [name, { tags, messages }] of Object.entries(sockets.channels)) {
    const page = `${tags[0]!.name}.html`;
    t.ok(ids.has(`${page}#channel-${name}`), name);
    for (const message of Object.keys(messages)) t.ok(ids.has(`${page}#message-${name}-${message}`), message);
  }
  for (const name of Object.keys({ ...rest.components.schemas, ...sockets.components.schemas }))
    t.ok(ids.has(`schemas.html#schema-${name}`), name);
  const exported = [...ids].filter((id) => id.startsWith('client_')).map((id) => id.split('#')[1]);
  t.ok(exported.length > 70, `${exported.length} exports of the client`);
  for (const name of Object.keys(client)) t.ok(exported.includes(name), name);
});

test('every section of the page about the server is in the site', async (t) => {
  const shown = SITE_GROUPS.flatMap(({ pages: listed }) => listed)
    .flatMap(({ parts }) => parts)
    .flatMap((part) => ('file' in part && part.file === 'src/server/README.md' ? (part.sections ?? []) : []));
  const written = [...splitSections(readPage('src/server/README.md')).keys()].filter((title) => title !== '');
  t.same(shown.toSorted(), written.toSorted());
});

test('the search finds names, numbers and words, best first', async (t) => {
  const [, json = ''] = /^ticksealIndex = (.*);\n$/.exec(texts.get('search_index.js')!) ?? [];
  const index = MiniSearch.loadJS<SearchEntry>(JSON.parse(json) as AsPlainObject, SEARCH_OPTIONS);
  const find = (text: string) => index.search(text).map(({ id }) => String(id));
  for (const [text, expected] of [
    ['/v1/prices/latest', 'prices.html#v1_prices_latest'],
    ['min_publishers', 'configuration.html#every-key'],
    ['UdfQuote', 'schemas.html#schema-UdfQuote'],
    ['createClient', 'client_functions.html#createClient'],
    ['backup and restore', 'running.html#backup-and-restore'],
  ] as const)
    t.equal(find(text)[0], expected, text);
  t.ok(find('createclent').includes('client_functions.html#createClient'), 'with a wrong letter');
  t.same(find('magnetohydrodynamics'), []);
  for (const id of find('price')) {
    const [file = '', fragment] = id.split('#');
    t.ok(fragment === undefined ? texts.has(file) : idsIn(texts.get(file)!).includes(fragment), id);
  }
});

test('each request has a sample in every language', async (t) => {
  const [, sample = ''] =
    /id="v1_prices_latest">[\s\S]*?<div class="samples"([\s\S]*?)<\/div>\n<\/div>/.exec(
      texts.get('prices.html')!,
    ) ?? [];
  t.same(
    [...sample.matchAll(/data-language="(\w+)"/g)].map(([, name]) => name),
    ['curl', 'TypeScript', 'Python'],
  );
  t.equal(sample.split('<span class="target">/v1/prices/latest?assets=BTCUSD</span>').length, 4);
});

function repeated(names: readonly string[]): string[] {
  return names.filter((name, i) => names.indexOf(name) !== i);
}
