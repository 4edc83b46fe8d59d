import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { verifyPayload } from '../../src/client/index.js';
import { Feed, units } from './feed.js';
import { sha256, startTestService, type TestService, TOKEN } from './harness.js';
import { latestWhen } from './publishing.js';

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
  readonly abort = new AbortController();
  comments = 0;
  isOver = false;
  response!: Response;

  static async open({ url }: TestService, query: string, token = TOKEN, lastId = ''): Promise<EventReader> {
    const reader = new EventReader();
    const headers = { Authorization: `Basic ${token}`, ...(lastId !== '' && { 'Last-Event-ID': lastId }) };
    const { signal } = reader.abort;
    reader.response = await fetch(`${url}/v1/stream${query}`, { headers, signal });
    if (reader.response.status === 200) void reader.#read().catch(() => {});
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
    ['content-type', 'x-accel-buffering'].map((name) => headers.get(name)),
    ['text/event-stream', 'no'],
  );
  await eventually(() => plain.events.length > 0);
  const [first] = plain.events;
  t.equal(first?.event, 'unsigned');
  t.equal(first?.id, /"ts":(\d+)/.exec(first!.text)?.[1], 'the ID is the ts, digit for digit');
  t.match(first?.data['a'], [{ id: 1 }, { id: 2 }]);
  await feed.accept({ symbol: 'BTCUSD', price: units(65_001) });
  await eventually(() => plain.events.length > 1);
  t.match(plain.events[1]?.data['a'], [{ id: 1, v: String(units(65_001)) }]);
  const signed = await EventReader.open(service, '?assets=%231&channel=10ms&message_type=signed_ecdsa');
  await eventually(() => signed.events.length > 1);
  const { event, id, data } = signed.events[0]!;
  const { verdict, payload } = verifyPayload(String(data['p']), { signers: [service.evmAddress] });
  t.same([event, verdict, id], ['signed_ecdsa', 'verified', String(payload?.timestampNs)]);
  signed.abort.abort();
  plain.abort.abort();
});

test('a client that lost its stream continues after its last event, without a gap and with nothing twice', async (t) => {
  const service = await startTestService(t, {
    assets: ASSETS.map((asset) => ({ ...asset, clock_period: '24h', delta_percent: 0.000001 })),
  });
  const feed = await Feed.open(service, { ack: 'durable' });
  const publish = async (price: number) => {
    await feed.accept({ symbol: 'BTCUSD', price: units(price) }, { symbol: 'ETHUSD', price: units(price) });
    await latestWhen(service, 'BTCUSD', (aggregate) => aggregate.price === String(units(price)));
    await latestWhen(service, 'ETHUSD', (aggregate) => aggregate.price === String(units(price)));
  };
  await publish(1);
  const first = await EventReader.open(service, '?assets=BTCUSD,%232');
  await eventually(() => first.events.length > 0);
  first.abort.abort();
  for (let price = 2; price <= 6; price++) await publish(price);
  const second = await EventReader.open(service, '?assets=BTCUSD,%232', TOKEN, first.events[0]!.id);
  t.equal(second.response.status, 200);
  await eventually(() => second.events.some(({ event }) => event === 'unsigned'));
  const kinds = second.events.map(({ event }) => event);
  t.same(kinds.slice(0, 11), [...new Array(10).fill('backfilled'), 'unsigned'], 'frames follow the past');
  for (const symbol of ['BTCUSD', 'ETHUSD']) {
    const missed = second.events.flatMap(({ data }) => (data['asset_id'] === symbol ? [data['price']] : []));
    t.same(
      missed,
      [2, 3, 4, 5, 6].map((price) => String(units(price))),
      `each aggregate of ${symbol} once, in order`,
    );
  }
  await publish(7);
  await eventually(() => second.events.at(-1)!.text.includes(String(units(7))));
  second.abort.abort();

  const invalid = await EventReader.open(service, '?assets=BTCUSD', TOKEN, 'x');
  t.equal(invalid.response.status, 400);
  const away = await EventReader.open(service, '?assets=BTCUSD', TOKEN, '1');
  await eventually(() => away.events.some(({ event }) => event === 'unsigned'));
  t.equal(away.events[0]!.event, 'gap');
  t.match(away.events[0]!.text, /is before the signed prices that are kept.*"kept_from":\d{19}\}/);
  away.abort.abort();
});

test('requests that cannot be answered name the cause', async (t) => {
  const tokens = [{ name: 'few', sha256: sha256('few'), scopes: ['stream'], assets: ['ETHUSD'] }];
  const service = await startTestService(t, { assets: ASSETS, tokens });
  const refused: readonly (readonly [query: string, error: RegExp])[] = [
    ['?assets=2', /: 2; .*; a streaming ID is written #2$/],
    ['?assets=BTCUSD,%232', /: BTCUSD; \/v1\/taxonomy lists all names$/],
    ['?assets=%232&channel=2s', /channel/],
  ];
  for (const [query, error] of refused) {
    const { response } = await EventReader.open(service, query, 'few');
    t.equal(response.status, 400, query);
    t.match(((await response.json()) as { error: string }).error, error);
  }
});

test('a stream ends with an event when the service stops', async (t) => {
  const service = await startTestService(t, { assets: ASSETS });
  const reader = await EventReader.open(service, '?assets=%231');
  await eventually(() => reader.comments > 0);
  await service.stop();
  await eventually(() => reader.isOver);
  t.match(reader.events, [{ event: 'end', data: { code: 1001 } }]);
});
