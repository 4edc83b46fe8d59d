import { test } from 'tap';
import { bodyOf, describedDocuments, routesOf } from '../../../scripts/site/described_routes.js';
import { operationsOf } from '../../../src/server/documents/openapi.js';
import { loadPages } from '../../../src/server/live_page/page_files.js';

test('the text for language models is short, has every path, and its links lead to the pages', async (t) => {
  const { rest, sockets } = describedDocuments();
  const text = bodyOf(routesOf('service'), '/llms.txt');
  t.ok(text.length < 10_000, `${text.length} characters`);
  t.match(text, /^# tickseal\n\n> /);
  for (const { path } of operationsOf(rest)) t.ok(text.includes(`${path}](`), path);
  for (const { address } of Object.values(sockets.channels)) t.ok(text.includes(`[${address}](`), address);
  const pages = loadPages();
  const links = [...text.matchAll(/\((\/docs\/[^)#]*)(?:#([^)]*))?\)/g)];
  t.ok(links.length > 30);
  for (const [, path = '', anchor] of links) {
    const page = String(pages.get(path)?.bodies.identity);
    t.ok(anchor === undefined ? pages.has(path) : page.includes(` id="${anchor}"`), `${path}#${anchor}`);
  }
});
