import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { verifyPayload } from '../../src/client/index.js';
import { Feed, units } from './feed.js';
import { sha256, startTestService, type TestService, TOKEN } from './harness.js';

// Tests of `/v1/stream`, the frames of `/ws` as server-sent events.

const ASSETS = [
  { id: 1, symbol: 'BTCUSD' },
  { id: 2, symbol: 'ETHUSD' },
];

interface ReceivedEvent {
  readonly event: string;
  readonly id: string;
  readonly data: Record<string, unknown> & { readonly ts?: number };
  readonly text: string;
}

/** A client of events that reads with `fetch`. */
class EventReader {
  readonly events: ReceivedEvent[] = [];
  comments = 0;
  isOver = false;

  private constructor(
    readonly response: Response,
    readonly abort: AbortController,
  ) {}

  static async open(
    service: TestService,
    query: string,
    token = TOKEN,
    lastId?: string,
  ): Promise<EventReader> {
    const abort = new AbortController();
    const headers = {
      Authorization: `Basic ${token}`,
      Origin: 'https://page.example',
      ...(lastId !== undefined && { 'Last-Event-ID': lastId }),
    };
    const response = await fetch(`${service.url}/v1/stream${query}`, { headers, signal: abort.signal });
    const reader = new EventReader(response, abort);
    if (response.status === 200) void reader.#read().catch(() => {});
    return reader;
  }

  async #read(): Promise<void> {
    let text = '';
    for await (const bytes of this.response.body!) {
      text += Buffer.from(bytes).toString();
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        this.#take(text.slice(0, end));
        text = text.slice(end + 2);
      }
    }
    this.isOver = true;
  }

  #take(block: string): void {
    if (block.startsWith(':')) {
      this.comments++;
      return;
    }
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
    const text = field('data');
    this.events.push({ event: field('event'), id: field('id'), data: JSON.parse(text), text });
  }
}

test('events have the frames of /ws, by symbol or ID', async (t) => {
  const service = await startTestService(t, { assets: ASSETS });
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(65_000) }, { symbol: 'ETHUSD', price: units(3_000) });
  const plain = await EventReader.open(service, '?assets=BTCUSD,%232');
  const { headers } = plain.response;
  t.same(
    ['content-type', 'cache-control', 'x-accel-buffering'].map((name) => headers.get(name)),
    ['text/event-stream', 'private, no-cache', 'no'],
  );
  await eventually(() => plain.events.length > 0);
  const [first] = plain.events;
  t.equal(first?.event, 'unsigned');
  t.equal(first?.id, /"ts":(\d+)/.exec(first!.text)?.[1], 'the ID is the ts, digit for digit');
  t.match(first?.data['a'], [{ id: 1 }, { id: 2 }]);
  await feed.accept({ symbol: 'BTCUSD', price: units(65_001) });
  await eventually(() => plain.events.length > 1);
  t.match(plain.events[1]?.data['a'], [{ id: 1, v: String(units(65_001)) }]);
  for (const attributes of ['', '&addtl_attrs=ms']) {
    const query = `?assets=%231&channel=10ms&message_type=signed_ecdsa${attributes}`;
    const signed = await EventReader.open(service, query);
    await eventually(() => signed.events.length > 1);
    const { event, id, data } = signed.events[0]!;
    const { verdict, payload } = verifyPayload(String(data['p']), { signers: [service.evmAddress] });
    t.same([event, verdict, id], ['signed_ecdsa', 'verified', String(payload?.timestampNs)]);
    signed.abort.abort();
  }
  plain.abort.abort();
});

test('a client that lost its stream continues after its last event, without a gap and with nothing twice', async (t) => {
  const service = await startTestService(t, {
    assets: ASSETS.map((asset) => ({ ...asset, clock_period: '50ms' })),
  });
  const feed = await Feed.open(service, { ack: 'durable' });
  const publish = (price: number) =>
    feed.accept({ symbol: 'BTCUSD', price: units(price) }, { symbol: 'ETHUSD', price: units(price) });
  await publish(1);
  const first = await EventReader.open(service, '?assets=BTCUSD,%232');
  await eventually(() => first.events.length > 0);
  first.abort.abort();
  const firstId = first.events[0]!.id;
  // The past begins with the first aggregate, which is signed at the first frame or later.
  const [kept] = await rowsOf(service, 'BTCUSD', '0');
  const fromId = BigInt(firstId) > kept!.timeNs ? firstId : String(kept!.timeNs);
  for (let price = 2; price <= 6; price++) await publish(price);

  const second = await EventReader.open(service, '?assets=BTCUSD,%232', TOKEN, fromId);
  t.equal(second.response.status, 200, await failureOf(second));
  await eventually(() => second.events.some(({ event }) => event === 'unsigned'));
  const missed = second.events.filter(({ event }) => event === 'backfilled');
  const untilId = missed.at(-1)!.id;
  const expected = [
    ...(await rowsOf(service, 'BTCUSD', String(BigInt(fromId) + 1n), untilId)),
    ...(await rowsOf(service, 'ETHUSD', String(BigInt(fromId) + 1n), untilId)),
  ].map(({ text }) => text);
  t.ok(missed.length >= 10, `${missed.length} aggregates`);
  t.same(missed.map(({ text }) => text).sort(), expected.sort(), 'each aggregate once');
  const places = second.events.flatMap(({ event }, i) => (event === 'backfilled' ? [i] : []));
  t.equal(places.at(-1), missed.length - 1, 'frames follow the past');
  await publish(7);
  await eventually(() => second.events.at(-1)!.text.includes(String(units(7))));
  second.abort.abort();

  for (const [id, status, error] of [
    ['x', 400, /Last-Event-ID is not an integer of UNIX nanoseconds/],
    [String(2n ** 62n), 200, /^$/],
  ] as const) {
    const reader = await EventReader.open(service, '?assets=BTCUSD', TOKEN, id);
    t.equal(reader.response.status, status);
    t.match(await failureOf(reader), error);
    reader.abort.abort();
  }
});

test('a stream whose client was away for too long says so, and goes on', async (t) => {
  const service = await startTestService(t, { assets: ASSETS });
  const feed = await Feed.open(service, { ack: 'durable' });
  await feed.accept({ symbol: 'BTCUSD', price: units(1) });
  const reader = await EventReader.open(service, '?assets=BTCUSD', TOKEN, '1');
  await eventually(() => reader.events.some(({ event }) => event === 'unsigned'));
  t.equal(reader.events[0]!.event, 'gap');
  t.match(
    reader.events[0]!.text,
    /Last-Event-ID is before the signed prices that are kept.*"kept_from":\d{19}\}/,
  );
  reader.abort.abort();
});

/** Returns the body of a refusal; an empty text for an open stream. */
async function failureOf({ response }: EventReader): Promise<string> {
  return response.status === 200 ? '' : response.text();
}

/** Returns the time at which an aggregate was signed. */
function signedNs(line: string): bigint {
  return BigInt(/"timestamp":(\d+),"msg_hash"/.exec(line)![1]!);
}

/** Reads the aggregates that the range has. @param untilId the time of the last of them */
async function rowsOf(service: TestService, symbol: string, fromNs: string, untilId?: string) {
  const to = untilId === undefined ? BigInt(Date.now()) * 1_000_000n : BigInt(untilId) + 1n;
  let from = fromNs;
  for (;;) {
    const url = `${service.url}/v1/prices/range?asset=${symbol}&detail=signature&from=${from}&to=${to}`;
    const response = await fetch(url, { headers: { Authorization: `Basic ${TOKEN}` } });
    const text = await response.text();
    const kept = /"kept_from":(\d+)/.exec(text)?.[1];
    if (kept !== undefined && fromNs === '0') from = kept;
    else if (response.status !== 200) throw new Error(text);
    else
      return text
        .split('\n')
        .slice(0, -1)
        .map((line) => ({ text: line, timeNs: signedNs(line) }));
  }
}

test('requests that cannot be answered name the cause', async (t) => {
  const tokens = [{ name: 'few', sha256: sha256('few'), scopes: ['stream'], assets: ['ETHUSD'] }];
  const service = await startTestService(t, { assets: ASSETS, tokens, limits: { connections_per_token: 1 } });
  const refused: readonly (readonly [query: string, token: string, status: number, error: RegExp])[] = [
    ['', 'few', 400, /assets is missing/],
    ['?assets=2', 'few', 400, /: 2; .*; a streaming ID is written #2$/],
    ['?assets=BTCUSD,%232', 'few', 400, /: BTCUSD; \/v1\/taxonomy lists all names$/],
    ['?assets=BTCUSD&ignore_invalid=true', 'few', 400, /: BTCUSD; \/v1\/taxonomy lists all names$/],
    ['?assets=ETHUSD&ignore_invalid=1', 'few', 400, /ignore_invalid must be true or false/],
    ['?assets=%232&channel=2s', 'few', 400, /channel/],
    ['?assets=%232&encoding=binary', 'few', 400, /encoding/],
  ];
  for (const [query, token, status, error] of refused) {
    const { response } = await EventReader.open(service, query, token);
    const body = (await response.json()) as { error: string };
    t.same([response.status, error.test(body.error)], [status, true], `${query}: ${body.error}`);
  }
  const partly = await EventReader.open(service, '?assets=NOPE,%232,BTCUSD&ignore_invalid=true', 'few');
  await eventually(() => partly.events.length > 0);
  t.match(partly.events[0], {
    event: 'subscribe',
    data: { type: 'subscribe', assets: [2], invalid: ['NOPE', 'BTCUSD'] },
  });
  partly.abort.abort();
  const open = await eventually(async () => {
    const reader = await EventReader.open(service, '?assets=%232', 'few');
    return reader.response.status === 200 && reader;
  });
  const second = await EventReader.open(service, '?assets=%232', 'few');
  t.equal(second.response.status, 429, 'connections_per_token');
  open.abort.abort();
});

test('a stream ends with an event when the service stops', async (t) => {
  const service = await startTestService(t, { assets: ASSETS });
  const reader = await EventReader.open(service, '?assets=%231');
  await eventually(() => reader.comments > 0);
  await service.stop();
  await eventually(() => reader.isOver);
  t.match(reader.events, [{ event: 'end', data: { code: 1001 } }]);
});

test('a slow reader of events leaves frames out, and receives the newest prices when it reads again', async (t) => {
  const assets = Array.from({ length: 200 }, (_, i) => ({ id: i + 1, symbol: `A${i}` }));
  const service = await startTestService(t, { assets });
  const feed = await Feed.open(service);
  const prices = (price: number) => assets.map(({ symbol }) => ({ symbol, price: units(price) }));
  await feed.accept(...prices(1));
  const socket = connect(service.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
  });
  const ids = assets.map(({ id }) => `%23${id}`).join(',');
  socket.write(
    `GET /v1/stream?channel=10ms&assets=${ids} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${TOKEN}\r\n\r\n`,
  );
  await eventually(() => text.includes('event: unsigned'));
  socket.pause();
  await eventually(async () =>
    /_skipped_total [1-9]/.test(await (await fetch(`${service.adminUrl}/metrics`)).text()),
  );
  await feed.accept(...prices(2));
  text = '';
  socket.resume();
  await eventually(() => text.includes(`"v":"${units(2)}"`));
  t.pass('the newest prices');
  socket.end();
  await once(socket, 'close');
});
