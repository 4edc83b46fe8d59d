import { test } from 'tap';
import { renderClientPage } from '../../../src/server/documents/client_page.js';
import { readClientReference } from '../../../src/server/documents/client_reference.js';
import { bodyOf, routesOf } from './routes.js';

const page = bodyOf(routesOf('service'), '/docs/client');

test('the page of the client shows every export with its members', async (t) => {
  const { entries } = readClientReference();
  t.ok(entries.length > 70);
  for (const { name, members } of entries) {
    const [, section = ''] = new RegExp(`<section id="${name}">([\\s\\S]*?)</section>`).exec(page) ?? [];
    t.ok(section.includes(`<h3>${name} `), name);
    const missing = members.filter((member) => !section.includes(`<code>${member.name}</code>`));
    t.same(missing, [], `members of ${name}`);
  }
});

test('a name in a text is a link to it', async (t) => {
  t.match(page, 'createClient(options: <a href="#ClientOptions">ClientOptions</a>)');
  t.match(page, '<a href="#verifyPayload"><code>verifyPayload</code></a>');
  t.match(page, 'Throws <a href="#UnknownAssetError">UnknownAssetError</a> when');
  t.match(page, '<i>From <a href="#StreamClient"><code>StreamClient</code></a>.</i>');
});

test('both pages lead to each other', async (t) => {
  t.match(page, '<a href="/docs">');
  t.match(bodyOf(routesOf('service'), '/docs'), '<a href="/docs/client">the client</a>');
});

test('a service that was built without the reference says so', async (t) => {
  const missing = readClientReference(new URL('missing.json', import.meta.url));
  t.same(missing, { entries: [] });
  t.match(renderClientPage(missing), 'built without the reference');
});
