import { test } from 'tap';
import { boundedFetch } from '../../../src/client/connect/bounded_fetch.js';
import { BROWSER, type Fetch, type FetchResponse } from '../../../src/client/connect/platform.js';

// The bounds of answers on platforms that bound less: `fetch` functions of users, and browsers.

function platformOf(response: Partial<FetchResponse>, choosesEncoding = false) {
  const headers = { get: () => null };
  const fetch: Fetch = async () => ({ status: 200, headers, text: async () => '', ...response });
  return { ...BROWSER, fetch, choosesEncoding: () => choosesEncoding };
}

test('a fetch function that returns whole bodies has the same bounds', async (t) => {
  const open = (text: string) => boundedFetch({ url: '' }, platformOf({ text: async () => text }));
  t.equal(await (await open('äb')).wholeText(3), 'äb');
  await t.rejects((await open('äb')).wholeText(2), { message: 'the answer has more than 2 bytes' });
});

test('a redirect is refused when a browser hides it, and when the fetch function followed it', async (t) => {
  for (const response of [{ status: 0 }, { redirected: true }])
    await t.rejects(boundedFetch({ url: '' }, platformOf(response)), {
      message: 'the answer is a redirect, and redirects are not followed',
    });
});

test('a compressed answer is refused where the request can choose', async (t) => {
  const headers = { get: (name: string) => (name === 'content-encoding' ? 'br' : null) };
  await boundedFetch({ url: '' }, platformOf({ headers }));
  await boundedFetch({ url: '', takesCompressed: true }, platformOf({ headers }, true));
  await t.rejects(boundedFetch({ url: '' }, platformOf({ headers }, true)), { message: /is compressed/ });
  t.ok(BROWSER.choosesEncoding(), 'Node sends the header');
});
