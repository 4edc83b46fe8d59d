import { type Test, test } from 'tap';
import { Feed, units } from '../service/feed.js';
import { ask, namedToken, startTestService, type TestService } from '../service/harness.js';

// Tests a token for a single asset at every path that takes assets. test/service/reload_tokens.test.ts tests streams and publishers. The other asset is refused, and appears in no answer.

const SEEN = 'SEENUSD';
const HIDDEN = 'HIDDENUSD';
/** Digits that occur only in the hidden price. */
const HIDDEN_UNITS = 7_731_977;
const ASSETS = [SEEN, HIDDEN].map((symbol, i) => ({ id: i + 1, symbol, calendar: 'us_equities' }));
const PUSHED = { delta: 0.5, staleness: 3600 };

async function startWithPrices(t: Test): Promise<TestService> {
  const service = await startTestService(t, {
    assets: ASSETS,
    tokens: [namedToken('all'), namedToken('some', { assets: [SEEN] })],
    pushed_assets: {
      ethereum: { mainnet: { [SEEN]: PUSHED, [HIDDEN]: PUSHED }, testnet: { [HIDDEN]: PUSHED } },
      hidden_chain: { mainnet: { [HIDDEN]: PUSHED } },
    },
  });
  const feed = await Feed.open(service, { token: 'all' });
  await feed.accept({ symbol: SEEN, price: units(1) }, { symbol: HIDDEN, price: units(HIDDEN_UNITS) });
  await feed.socket.close();
  return service;
}

/** Returns requests for an asset. */
function questions(symbol: string): readonly string[] {
  const nowS = Math.floor(Date.now() / 1000);
  const range = 'resolution=1&from=0&to=9999999999';
  return [
    `/v1/prices/latest?assets=${symbol}`,
    `/v1/prices/latest?assets=${SEEN},${symbol}`,
    `/v1/prices/recent?timestamp=${nowS}&assets=${symbol}`,
    `/v1/tradingview/history?symbol=${symbol}&resolution=1D&from=0&to=9999999999`,
    `/v1/candles?assets=${symbol}&resolution=1D&from=0&to=9999999999`,
    `/v1/market_status?asset_id=${symbol}`,
    `/udf/symbols?symbol=${symbol}`,
    `/udf/history?symbol=${symbol}&${range}`,
  ];
}

test('REST answers for the assets of the token, and for no other', async (t) => {
  const service = await startWithPrices(t);
  for (const [i, path] of questions(HIDDEN).entries()) {
    // A cached answer to a token is not sent to another token.
    const whole = await ask(service, path, 'all');
    t.equal(whole.status, 200, `${path} is answered to the token that covers all`);
    const { status, text, error } = await ask(service, path, 'some');
    if (path.startsWith('/udf/')) t.match(JSON.parse(text), { s: 'error', errmsg: /does not cover/ }, path);
    else t.match({ status, error }, { status: 403, error: /does not cover/ }, path);
    t.notMatch(text, String(HIDDEN_UNITS), path);
    t.equal((await ask(service, questions(SEEN)[i]!, 'some')).status, 200, questions(SEEN)[i]!);
  }
  for (const name of ['*', '%2A', 'all', HIDDEN.toLowerCase()])
    t.match(await ask(service, `/v1/prices/latest?assets=${name}`, 'some'), { status: 400 }, name);
  for (const path of [
    '/v1/prices/assets',
    '/v1/taxonomy',
    '/udf/search',
    '/udf/search?query=usd',
    '/v0/deployments/service_pushed_assets',
  ]) {
    t.match((await ask(service, path, 'all')).text, HIDDEN, `${path} of the token that covers all`);
    const { status, text } = await ask(service, path, 'some');
    t.equal(status, 200, path);
    t.notMatch(text, HIDDEN, path);
  }
  t.same((await ask(service, '/v0/deployments/service_pushed_assets', 'some')).data, {
    ethereum: { mainnet: { [SEEN]: PUSHED } },
  });
});
