import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { createClient } from '../../src/client/node.js';
import { Feed, units } from './feed.js';
import { get, startTestService, type TestService, TestSocket, TOKEN } from './harness.js';

// A table of odd symbols goes through every door that takes the name of an asset: a name never means two assets.

/** The configured symbols. The place of each is its streaming ID, except of the second, whose ID is the name of the first. */
const SYMBOLS = [
  '700', '9988', '1e3', 'null', 'undefined', 'true', 'constructor', 'prototype', 'toString', 'hasOwnProperty',
  'BRK.B', 'BTC/USD', 'S&P500', '日経', '0x10', '-1', 'a+b', '%41', 'A', 'A=B', '#x', '#1x', '..', 'a?b#c', 'É', 'a:b;c', 'btcusd',
]; // biome-ignore format: a table
const ID_OF_SECOND = 700;
const idOf = (symbol: string) => (symbol === '9988' ? ID_OF_SECOND : SYMBOLS.indexOf(symbol) + 1);
/** The price of a symbol is its ID. */
const ASSETS = SYMBOLS.map((symbol) => ({
  id: idOf(symbol),
  symbol,
  clock_period: '24h',
  max_age: '24h',
  calendar: 'us_equities',
}));

/** Names that are no symbol: streaming IDs, and names of no asset. */
const IDS = { '#1': 1, '#700': ID_OF_SECOND };
const OTHERS = ['1', '7', 'BTCUSD', '#65536', '__proto__', 'valueOf', '1E3'];
const REFUSED =
  /unknown (asset|symbol)|no such asset|has no asset|is a streaming ID|does not have|has no price|cannot be a symbol|no asset|not configured/;

/** The times between which the service signed all aggregates. */
let fromNs = 0n;
let toNs = 0n;

/** Asks for the price of a name. @returns the price, or a text that says why there is none */
type Door = (name: string) => Promise<number | string>;

async function open(t: Test): Promise<TestService> {
  const service = await startTestService(t, { assets: ASSETS });
  const feed = await Feed.open(service);
  await feed.accept(...SYMBOLS.map((symbol) => ({ symbol, price: units(idOf(symbol)) })));
  t.teardown(() => feed.socket.close());
  const path = `/v1/prices/latest?assets=${SYMBOLS.map(encodeURIComponent).join()}`;
  await eventually(async () => Object.keys((await rest(service, path)).data ?? {}).length === SYMBOLS.length);
  const client = createClient({ urls: service.url, token: TOKEN, signers: [service.evmAddress] });
  const times = Object.values(await client.latest(SYMBOLS)).map(({ timestampNs }) => timestampNs);
  await client.close();
  fromNs = times.reduce((one, other) => (one < other ? one : other));
  toNs = times.reduce((one, other) => (one > other ? one : other)) + 1n;
  return service;
}

async function rest(service: TestService, path: string) {
  const response = await get(service.url + path, { Authorization: `Basic ${TOKEN}` });
  const text = await response.text();
  const body = text.startsWith('{') && !text.includes('\n') ? JSON.parse(text) : {};
  return { text, data: body.data as Record<string, unknown> | undefined, body };
}

const wholeUnits = (price: string | bigint) => Number(BigInt(price) / units(1));

function restDoors(service: TestService): Record<string, Door> {
  const priceIn = (data: Record<string, unknown> | undefined, name: string, text: string) => {
    const [only] = Object.entries(data ?? {});
    if (only === undefined) return text;
    const [key, { asset_id, price }] = only as [string, { asset_id: string; price: string }];
    return key === name && asset_id === name ? wholeUnits(price) : `answered ${key}`;
  };
  const keyed =
    (path: (name: string) => string): Door =>
    async (name) => {
      const { data, text } = await rest(service, path(encodeURIComponent(name)));
      return priceIn(data, name, text);
    };
  const day = () => `from=${Math.floor(Date.now() / 1000) - 86_400}&to=${Math.floor(Date.now() / 1000) + 60}`;
  return {
    latest: keyed((name) => `/v1/prices/latest?assets=${name}`),
    recent: keyed((name) => `/v1/prices/recent?assets=${name}&timestamp=${Math.floor(Date.now() / 1000)}`),
    at: keyed((name) => `/v1/prices/at?assets=${name}&timestamp=${toNs}`),
    range: async (name) => {
      const path = `/v1/prices/range?asset=${encodeURIComponent(name)}&from=${fromNs}&to=${toNs}`;
      const { text } = await rest(service, path);
      const line = JSON.parse(text.split('\n')[0]!);
      return priceIn(line.asset_id === undefined ? undefined : { [line.asset_id]: line }, name, text);
    },
    history: async (name) => {
      const { data, text } = await rest(
        service,
        `/v1/tradingview/history?symbol=${encodeURIComponent(name)}&resolution=1D&${day()}`,
      );
      return (data as { c?: number[] } | undefined)?.c?.[0] ?? text;
    },
    'udf history': async (name) => {
      const { body, text } = await rest(
        service,
        `/udf/history?symbol=${encodeURIComponent(name)}&resolution=1D&${day()}`,
      );
      return body.c?.[0] ?? text;
    },
    'udf symbols': async (name) => {
      const { body, text } = await rest(service, `/udf/symbols?symbol=${encodeURIComponent(name)}`);
      return body.name === name ? idOf(name) : text;
    },
    'udf quotes': async (name) => {
      const { body, text } = await rest(service, `/udf/quotes?symbols=${encodeURIComponent(name)}`);
      const [quote] = body.d ?? [];
      if (quote?.s === 'error') return 'no such asset';
      return quote?.n === name ? quote.v.lp : text;
    },
    market_status: async (name) => {
      const { data, text } = await rest(service, `/v1/market_status?asset_id=${encodeURIComponent(name)}`);
      return data === undefined
        ? text
        : Object.keys(data).every((key) => key.startsWith(name))
          ? idOf(name)
          : text;
    },
  };
}

function streamDoors(service: TestService): Record<string, Door> {
  return {
    '/v1/stream': async (name) => {
      const abort = new AbortController();
      const response = await fetch(`${service.url}/v1/stream?assets=${encodeURIComponent(name)}`, {
        headers: { Authorization: `Basic ${TOKEN}` },
        signal: abort.signal,
      });
      if (response.status !== 200) return response.text();
      let text = '';
      for await (const bytes of response.body!) {
        text += Buffer.from(bytes).toString();
        const [, value] = /"v":"(\d+)"/.exec(text) ?? [];
        if (value !== undefined) return wholeUnits(value);
      }
      abort.abort();
      return text;
    },
    '/evm/subscribe': async (name) => {
      const socket = await TestSocket.open(`${service.socketUrl}/evm/subscribe`, TOKEN);
      socket.send({ type: 'subscribe', data: [name] });
      for (;;) {
        const { type, error, data } = await socket.nextJson();
        if (type === 'error') return String(error);
        if (type !== 'oracle_prices' || data === undefined) continue;
        const [only] = Object.entries(data as Record<string, { price: string }>);
        if (only !== undefined) {
          socket.close();
          return only[0] === name ? wholeUnits(only[1].price) : `answered ${only[0]}`;
        }
      }
    },
  };
}

function sdkDoors(service: TestService, t: Test): Record<string, Door> {
  const client = createClient({ urls: service.url, token: TOKEN, signers: [service.evmAddress] });
  t.teardown(() => client.close());
  const unless =
    (ask: Door): Door =>
    async (name) => {
      try {
        return await ask(name);
      } catch (error) {
        return (error as Error).message;
      }
    };
  return {
    'SDK latest': unless(async (name) => wholeUnits((await client.latest([name]))[name]!.price)),
    'SDK at': unless(async (name) => wholeUnits((await client.at([name], toNs))[name]!.price)),
    'SDK range': unless(async (name) => {
      for await (const { price } of client.range(name, { from: fromNs, to: toNs })) return wholeUnits(price);
      return 'nothing';
    }),
    'SDK publish': unless(async (name) => {
      const publisher = client.publisher({ key: (0x101).toString(16).padStart(64, '0'), oracleId: 'tests' });
      const verdicts = await publisher.publish(Object.fromEntries([[name, String(idOf(name))]]));
      await publisher.close();
      const verdict = verdicts[name]!;
      return verdict.status === 'accepted' ? idOf(name) : verdict.reason;
    }),
    'SDK stream': unless(async (name) => {
      for await (const { symbol, price } of client.stream([name]))
        return symbol === name ? wholeUnits(price) : `answered ${symbol}`;
      return 'nothing';
    }),
  };
}

const TAKES_IDS = '/v1/stream';

for (const [room, doors] of Object.entries({
  REST: restDoors,
  streams: streamDoors,
  SDK: sdkDoors,
}))
  test(`a name means one asset, or none, at every door: ${room}`, async (t) => {
    const service = await open(t);
    for (const [door, ask] of Object.entries(doors(service, t))) {
      const wrong: string[] = [];
      const begunMs = performance.now();
      const expect = (name: string, answer: number | string, wanted: number | RegExp) => {
        const fits = typeof wanted === 'number' ? answer === wanted : wanted.test(String(answer));
        if (!fits) wrong.push(`${name}: ${String(answer).slice(0, 200)}`);
      };
      for (const name of SYMBOLS) expect(name, await ask(name), idOf(name));
      for (const name of OTHERS) expect(name, await ask(name), REFUSED);
      for (const [name, id] of Object.entries(IDS))
        expect(name, await ask(name), door === TAKES_IDS ? id : REFUSED);
      if (door === TAKES_IDS) expect('7', await ask('7'), /a streaming ID is written #7/);
      t.same(wrong, [], `${door}, ${Math.round(performance.now() - begunMs)} ms`);
    }
  });
