import { test } from 'tap';
import { parseFrame, verifyPayload } from '../../src/client/index.js';
import { FakeClock } from '../clock/fake_clock.js';
import { Feed, units } from './feed.js';
import {
  ask,
  publisherSigner,
  SERVICE_KEYS,
  startTestService,
  type TestService,
  TestSocket,
} from './harness.js';
import { latestWhen } from './publishing.js';
import { statementOf } from './read_statement.js';

// Tests that changed assets, publishers and calendars take effect without a restart.

const MANY = { limits: { control_messages_per_second: 1000 } };

/** Reads frames until a frame has exactly these IDs and prices. */
async function frameOf(socket: TestSocket, ...assets: readonly (readonly [id: number, value: bigint])[]) {
  const wanted = assets.map(([id, value]) => `${id}:${value}`).join();
  for (let frames = 0; ; frames++) {
    const frame = parseFrame(await socket.next());
    const found =
      frame?.type === 'signed_ecdsa'
        ? verifyPayload(frame.payload, { signers: 'unchecked' }).payload!.assets
        : frame?.type === 'unsigned'
          ? frame.assets
          : [];
    if (found.map(({ id, value }) => `${id}:${value}`).join() === wanted) return;
    if (frames > 200) throw new Error(`no frame with ${wanted}, the last was ${JSON.stringify(frame)}`);
  }
}

test('assets come, go and change their IDs while they are subscribed', async (t) => {
  const before = ['A', 'B', 'C'].map((symbol, i) => ({ id: i + 1, symbol }));
  const service = await startTestService(t, { assets: before, ...MANY });
  const feed = await Feed.open(service);
  await feed.accept(...before.map(({ symbol, id }) => ({ symbol, price: units(id * 10) })));
  const queries = ['', 'channel=10ms', 'message_type=signed_ecdsa'];
  const sockets = await Promise.all(
    queries.map((query) => TestSocket.open(`${service.socketUrl}/ws?${query}`)),
  );
  for (const socket of sockets) {
    socket.send({ type: 'subscribe', assets: [1, 2, 3] });
    await frameOf(socket, [1, 10n * units(1)], [2, units(20)], [3, units(30)]);
  }

  // The reload removes B, gives A and C other IDs, and adds D.
  const after = [
    { id: 5, symbol: 'A' },
    { id: 4, symbol: 'C' },
    { id: 6, symbol: 'D' },
  ];
  service.reconfigure({ assets: after, ...MANY });
  await feed.accept({ symbol: 'A', price: units(11) }, { symbol: 'C', price: units(31) });
  t.match(await feed.publish({ symbol: 'B', price: units(21) }), {
    accepted: [],
    rejected: { B: /B|unknown/ },
  });
  for (const socket of sockets) await frameOf(socket, [4, units(31)], [5, units(11)]);
  t.match(await ask(service, '/v1/prices/assets'), { data: ['A', 'C', 'D'] });
  t.match(await ask(service, '/v1/prices/latest?assets=A,B'), { status: 400, error: /B/ });
  const day = `resolution=1D&from=0&to=99999999999`;
  t.match(await ask(service, `/v1/tradingview/history?symbol=B&${day}`), { status: 400 });

  service.reconfigure({ assets: before, ...MANY });
  t.same((await ask(service, '/v1/prices/latest?assets=B')).data, {}, 'what was gone needs a fresh price');
  t.match(await ask(service, `/v1/tradingview/history?symbol=B&${day}`), { data: { c: [20] } });
  await feed.accept(
    { symbol: 'A', price: units(13) },
    { symbol: 'B', price: units(23) },
    { symbol: 'C', price: units(33) },
  );
  for (const socket of sockets) await frameOf(socket, [1, units(13)], [2, units(23)], [3, units(33)]);
  await latestWhen(service, 'B', ({ price }) => price === String(units(23)));
});

test('the prices of publishers that leave go with them', async (t) => {
  const publishers = [1, 2].map((n) => ({ key: publisherSigner(n).publicKey }));
  const service = await startTestService(t, { publishers });
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(10) });
  await feed.accept({ symbol: 'BTCUSD', price: units(20), publisher: 2 });
  await latestWhen(service, 'BTCUSD', ({ price }) => price === String(units(15)));
  service.reconfigure({ publishers: publishers.slice(0, 1) });
  await latestWhen(service, 'BTCUSD', ({ price }) => price === String(units(10)));
});

test('calendars change', async (t) => {
  const clock = new FakeClock();
  const assets = [{ id: 1, symbol: 'AAPL', calendar: 'us_equities' }];
  const service = await startTestService(t, { assets }, { clock });
  const stream = await TestSocket.open(`${service.socketUrl}/ws?addtl_attrs=ms`);
  stream.send({ type: 'subscribe', assets: [1] });
  const feed = await Feed.open(service, { nowNs: () => clock.nowNs() });
  await feed.accept({ symbol: 'AAPL', price: units(1) });
  t.match(await stream.nextJson(), { a: [{ ms: 2 }] });
  service.reconfigure({
    assets,
    calendars: { us_equities: { closures: ['2026-03-02'] } },
  });
  clock.advance(2_000_000n);
  await feed.accept({ symbol: 'AAPL', price: units(2) });
  t.match(await stream.nextJson(), { a: [{ ms: 0 }] }, 'closed today');
  t.match(await ask(service, '/v1/market_status?asset_id=AAPL'), {
    data: { AAPL_CURRENT_STATUS: { price: '0' }, AAPL_NEXT_STATUS: { price: '2' } },
  });
  service.reconfigure({ assets: [{ ...assets[0], calendar: 'none' }] });
  t.match(await ask(service, '/v1/market_status?asset_id=AAPL'), { status: 400 });
  clock.advance(2_000_000n);
  await feed.accept({ symbol: 'AAPL', price: units(3) });
  t.same((await stream.nextJson())['a'], [{ id: 1, v: String(units(3)) }]);
});

test('a file for the next start takes no key away, and the sections that it cannot change stay', async (t) => {
  const assets = [{ id: 1, symbol: 'BTCUSD' }];
  const service = await startTestService(t, { assets });
  const edge = { role: 'edge', node: 3, servers: ['nats://127.0.0.1:1'], replicas: 1 };
  const changed = { assets, keys: { stream: { file: 'unused' } }, cluster: edge };
  const noKeys = { stream: SERVICE_KEYS.evm } as unknown as typeof SERVICE_KEYS;
  t.throws(() => service.reconfigure(changed, noKeys), { message: /keys.evm is missing/ });
  service.reconfigure({ assets, service: { name: 'other', taxonomy_id: 99 } });
  t.match(await ask(service, '/v1/taxonomy'), { data: { taxonomy_id: 1 } });
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(2) });
  await latestWhen(service, 'BTCUSD', ({ price }) => price === String(units(2)));
});

const A = { id: 1, symbol: 'A' };
const B = { id: 2, symbol: 'B' };
const SWAPPED = [
  { ...A, id: 2 },
  { ...B, id: 1 },
];
const REFUSAL =
  /assets\[0\]\.id: 2 means A \(evm\) here, and has meant B \(evm\) under taxonomy_id 1: raise service\.taxonomy_id/;

const namesOf = async (service: TestService) =>
  (await statementOf(service)).assets.map(({ id, symbol }) => `${id} ${symbol}`).join();

test('a reload that swaps IDs is refused, and everything goes on', async (t) => {
  const service = await startTestService(t, { assets: [A, B] });
  const feed = await Feed.open(service);
  t.throws(() => service.reconfigure({ assets: SWAPPED }), REFUSAL);
  t.throws(
    () => service.reconfigure({ assets: SWAPPED, service: { taxonomy_id: 2 } }),
    REFUSAL,
    'before a start',
  );
  t.equal(await namesOf(service), '1 A,2 B');
  await feed.accept({ symbol: 'A', price: units(5) });
  await latestWhen(service, 'A', ({ price }) => price === String(units(5)));

  service.reconfigure({ assets: [B, { id: 3, symbol: 'C' }, { ...A, id: 4 }] });
  t.equal(await namesOf(service), '2 B,3 C,4 A', 'new IDs join');
  t.throws(
    () => service.reconfigure({ assets: [{ ...B, id: 4 }] }),
    /4 means B \(evm\) here, and has meant A/,
  );
});
