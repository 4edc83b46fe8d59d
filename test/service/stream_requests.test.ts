import { test } from 'tap';
import { Feed, units } from './feed.js';
import { sha256, startTestService, TestSocket, TOKEN } from './harness.js';
import { RawHttp } from './raw_http.js';

// Tests of the opening of `/ws`, and of a client's messages there.

const ASSETS = [1, 2, 3, 4].map((id) => ({ id, symbol: `A${id}` }));
/** A limit that allows all messages of a test within a second. */
const TALKATIVE = { control_messages_per_second: 1000 };

test('tokens and the query are judged before the upgrade', async (t) => {
  const token = (name: string, scope: string) => ({ name, sha256: sha256(name), scopes: [scope] });
  const service = await startTestService({ tokens: [token('streams', 'stream'), token('rests', 'rest')] });
  t.teardown(() => service.stop());
  const open = (query: string, name?: string) => TestSocket.open(`${service.socketUrl}/ws${query}`, name);
  await t.rejects(open('', ''), /^401 .*Authorization/);
  await t.rejects(open('', 'nobody'), /^401 .*token/);
  await t.rejects(open('', 'rests'), /^403 .*scope/);
  const raw = await RawHttp.open(service.port);
  t.teardown(() => raw.end());
  raw.request('GET /ws', [
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${'A'.repeat(22)}==`,
  ]);
  const { status, headers } = await raw.response();
  t.match([status, headers.get('www-authenticate')], [401, /^Basic/], 'no header at all');

  const channels = /10ms, 20ms, 50ms, 100ms, 500ms, 1s, real_time/;
  const refused: readonly [query: string, error: RegExp][] = [
    ['?channel=200ms', channels],
    ['?channel=', channels],
    ['?channel=REAL_TIME', channels],
    ['?channel=constructor', channels],
    ['?message_type=signed', /unsigned, signed_ecdsa/],
    ['?message_type=', /unsigned, signed_ecdsa/],
    ['?encoding=hex', /encoding must be one of json, binary/],
    ['?addtl_attrs=volume', /addtl_attrs .*ms/],
    ['?addtl_attrs=ms,volume', /addtl_attrs .*ms/],
    ['?channel=1s&channel=1s', /channel is given more than once/],
    ['?channel=%zz', /channel has a malformed/],
  ];
  for (const [query, error] of refused) {
    const failure = await open(query, 'streams').then(
      () => 'opened',
      (reason: Error) => reason.message,
    );
    t.match(failure, /^400 /, query);
    t.match((JSON.parse(failure.slice(4)) as { error: string }).error, error, query);
  }
  for (const query of [
    '?channel=1s&message_type=signed_ecdsa&addtl_attrs=ms',
    '?addtl_attrs=ms,ms',
    '?other=1',
  ])
    await (await open(query, 'streams')).close();
});

test('a request with an id is answered, one without is not', async (t) => {
  const service = await startTestService({ assets: ASSETS, limits: TALKATIVE });
  t.teardown(() => service.stop());
  const socket = await TestSocket.open(`${service.socketUrl}/ws`);
  const ask = async (message: Record<string, unknown>) => {
    socket.send(message);
    return socket.nextJson();
  };
  const subscribe = { type: 'subscribe', invalid: [] };
  t.same(await ask({ type: 'subscribe', assets: [3, 1, 3], id: 'first' }), {
    ...subscribe,
    id: 'first',
    assets: [1, 3],
  });
  t.same(await ask({ type: 'subscribe', assets: [], id: 0 }), { ...subscribe, id: 0, assets: [1, 3] });
  socket.send({ type: 'subscribe', assets: [2] });
  t.same(await ask({ type: 'subscribe', assets: [1], id: '' }), { ...subscribe, id: '', assets: [1, 2, 3] });
  t.same(
    await ask({ type: 'unsubscribe', assets: [1, 4, 9], id: -1.5 }),
    { type: 'unsubscribe', id: -1.5, assets: [2, 3], invalid: [9] },
    'what is not subscribed does no harm',
  );
  socket.send({ type: 'unsubscribe', assets: [2, 3] });
  t.same(await ask({ type: 'unsubscribe', assets: [2], id: 7 }), {
    type: 'unsubscribe',
    id: 7,
    assets: [],
    invalid: [],
  });
});

test('subscribe is all or nothing, unless the unknown ones are to be ignored', async (t) => {
  const limited = { name: 'limited', sha256: sha256('limited'), scopes: ['stream'], assets: ['A1', 'A2'] };
  const service = await startTestService({ assets: ASSETS, limits: TALKATIVE, tokens: [limited] });
  t.teardown(() => service.stop());
  const socket = await TestSocket.open(`${service.socketUrl}/ws`, 'limited');
  const ask = async (message: Record<string, unknown>) => {
    socket.send({ type: 'subscribe', ...message });
    return socket.nextJson();
  };
  const refusal = { type: 'error', id: 5, error: /\b3, 9, 70000, -1$/ };
  t.match(
    await ask({ assets: [1, 3, 9, 70_000, -1], id: 5 }),
    refusal,
    'also those that the token does not cover',
  );
  t.notOk('id' in (await ask({ assets: [9] })), 'errors come without an id, too');
  t.same(
    await ask({ assets: [], id: 1 }),
    { type: 'subscribe', id: 1, assets: [], invalid: [] },
    'nothing changed',
  );
  t.same(await ask({ assets: [2, 9, 3, 1], id: 2, ignore_invalid: true }), {
    type: 'subscribe',
    id: 2,
    assets: [1, 2],
    invalid: [9, 3],
  });
});

test('bad messages are answered and the connection stays, until the tenth', async (t) => {
  const service = await startTestService({ assets: ASSETS, limits: TALKATIVE });
  t.teardown(() => service.stop());
  const socket = await TestSocket.open(`${service.socketUrl}/ws`);
  const bad: readonly [message: unknown, answer: object][] = [
    ['{', { error: /JSON/ }],
    ['[1]', { error: /object/ }],
    ['null', { error: /object/ }],
    [
      { type: 'Subscribe', assets: [1], id: 1 },
      { error: /^type /, id: 1 },
    ],
    [
      { type: 'subscribe', data: [1], id: 'x' },
      { error: /^assets /, id: 'x' },
    ],
    [{ type: 'subscribe', assets: ['1'] }, { error: /^assets / }],
    [{ type: 'subscribe', assets: [1.5] }, { error: /^assets / }],
    [{ type: 'subscribe', assets: [1], id: null }, { error: /^id / }],
    [
      { type: 'subscribe', assets: [1], ignore_invalid: 1, id: 9 },
      { error: /^ignore_invalid /, id: 9 },
    ],
  ];
  for (const [message, answer] of bad) {
    socket.send(message);
    t.match(await socket.nextJson(), { type: 'error', ...answer });
  }
  socket.send({ type: 'subscribe', assets: [1], id: 'still here' });
  t.match(await socket.nextJson(), { type: 'subscribe', id: 'still here', assets: [1] });
  socket.send('');
  t.match(await socket.nextJson(), { type: 'error' });
  t.match(await socket.closed, { code: 1008 });

  const binary = await TestSocket.open(`${service.socketUrl}/ws`);
  binary.ws.send(Buffer.from('{"type":"subscribe","assets":[1]}'));
  t.match(await binary.closed, { code: 1003 });
});

test('one bad client costs the others nothing', async (t) => {
  const service = await startTestService();
  t.teardown(() => service.stop());
  const good = await TestSocket.open(`${service.socketUrl}/ws`);
  good.send({ type: 'subscribe', assets: [1] });
  const bad = await TestSocket.open(`${service.socketUrl}/ws`);
  bad.send({ type: 'subscribe', assets: [1] });
  const raw = await RawHttp.open(service.port);
  raw.request('GET /ws', [
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${'A'.repeat(22)}==`,
    `Authorization: Basic ${TOKEN}`,
  ]);
  t.equal((await raw.response()).status, 101);
  // The client sends a frame with reserved bits. Then the connection is cut.
  raw.socket.write(Buffer.from([0xf1, 0x80, 0, 0, 0, 0]));
  await raw.closed;
  bad.ws.terminate();
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(1) });
  t.match(await good.nextJson(), { a: [{ id: 1, v: String(units(1)) }] });
});
