import { test } from 'tap';
import { TcpProxy } from '../../../scripts/load/tcp_proxy.js';
import { eventually } from '../../../scripts/load/wait.js';
import { LOG_START, type LogPosition, type LogRecord, WrongEnd } from '../../../src/cluster/bus.js';
import type { NatsBus } from '../../../src/cluster/nats/nats_bus.js';
import { natsBus, natsServers, needsNatsServer } from './servers.js';

const bytes = new Uint8Array(100);

test(
  'a connection that carries nothing any more is left for the next server',
  needsNatsServer(),
  async (t) => {
    const { urls } = await natsServers(t, 3);
    const proxy = await TcpProxy.start(Number(new URL(urls[0]!).port));
    t.teardown(() => proxy.stop());
    const notices: string[] = [];
    const bus = await natsBus(t, [`nats://127.0.0.1:${proxy.port}`, ...urls.slice(1)], {
      onNotice: (text) => notices.push(text),
    });
    const watcher = await natsBus(t, urls.slice(1));
    t.equal(bus.server, 'n1', 'the first is preferred');
    const committed: LogRecord[] = [];
    const heard: Uint8Array[] = [];
    bus.onCommitted((record) => committed.push(record));
    bus.listen('tick', (tick) => heard.push(tick));
    await bus.append(LOG_START, 'a-1', bytes);
    proxy.state = 'silent';
    // The messages exceed the socket buffers, so that some bytes wait in the client.
    for (let n = 0; n < 64; n += 1) bus.send('tick', new Uint8Array(500_000));
    await eventually(() => bus.waitingBytes > 8 * 1024 ** 2);
    const lost = bus.append({ sequence: 1, id: 'a-1' }, 'a-2', bytes);
    bus.reconnect();
    t.equal(bus.server, undefined);
    t.equal(bus.waitingBytes, 0, 'what waited is given up');
    await t.rejects(lost, /connection to the NATS server was lost/, 'at once, and not as refused');
    await t.rejects(bus.ask('any', bytes, 60_000), /not connected/);
    bus.send('tick', bytes);
    await eventually(() => bus.server === 'n2');
    await eventually(async () => {
      watcher.send('tick', bytes);
      return heard.some(({ length }) => length === bytes.length);
    });
    t.equal(await bus.append({ sequence: 1, id: 'a-1' }, 'a-2', bytes), 2, 'what was lost is sent again');
    await eventually(() => committed.some(({ id }) => id === 'a-2'));
    t.match(notices.join(' '), /connection to 127.* is given up.*connected to 127\.0\.0\.1/);
    proxy.state = 'open';
    t.same(
      (await watcher.read(0)).map(({ id }) => id),
      ['a-1', 'a-2'],
      'nothing came later from the old connection',
    );
  },
);

test(
  'a record that was appended while the answer was lost is appended once',
  needsNatsServer(),
  async (t) => {
    const { urls } = await natsServers(t, 1);
    const proxy = await TcpProxy.start(Number(new URL(urls[0]!).port));
    t.teardown(() => proxy.stop());
    const bus = await natsBus(t, [`nats://127.0.0.1:${proxy.port}`]);
    const watcher = await natsBus(t, urls);
    await bus.append(LOG_START, 'a-1', bytes);
    const after = { sequence: 1, id: 'a-1' };
    // The writer loses the answer to this record. The watcher receives the record when the servers have stored it.
    const lost = bus.append(after, 'a-2', bytes);
    await eventually(async () => (await watcher.extent()).last.sequence === 2);
    proxy.state = 'closed';
    await lost.catch(() => {});
    await eventually(() => bus.server === undefined);
    proxy.state = 'open';
    await eventually(() => bus.server !== undefined);
    t.equal(await bus.append(after, 'a-2', bytes), 2);
    t.equal((await watcher.read(0)).length, 2);
  },
);

test('a server that stops and comes back', needsNatsServer(), async (t) => {
  const servers = await natsServers(t, 1);
  const bus = await natsBus(t, servers.urls);
  const committed: string[] = [];
  bus.onCommitted(({ id }) => committed.push(id));
  bus.answer('full.1', async () => bytes);
  await bus.append(LOG_START, 'a-1', bytes);
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    await servers.signal(0, signal);
    await eventually(() => bus.server === undefined);
    await t.rejects(bus.append({ sequence: 1, id: 'a-1' }, 'x', bytes), /not connected/, 'known at once');
    await servers.start(0);
    await eventually(() => bus.server === 'n1');
  }
  await eventually(() => bus.extent().catch(() => undefined));
  t.equal(
    await bus.append({ sequence: 1, id: 'a-1' }, 'a-2', bytes),
    2,
    'the predecessor is known after a restart',
  );
  await eventually(() => committed.includes('a-2'));
  t.equal((await bus.ask('full.1', bytes, 60_000)).length, bytes.length, 'it answers again');
});

const WRITERS = 6;
const ROUNDS = 100;

test('of six writers that follow the same record exactly one wins', needsNatsServer(), async (t) => {
  const { urls } = await natsServers(t, 3);
  const writers: NatsBus[] = [];
  for (let n = 0; n < WRITERS; n += 1) {
    const rotated = urls.map((_, at) => urls[(at + n) % urls.length]!);
    writers.push(await natsBus(t, rotated));
  }
  let end: LogPosition = LOG_START;
  for (let round = 0; round < ROUNDS; round += 1) {
    const results = await Promise.all(
      writers.map(async (writer, n) => {
        const id = `${n}-${round}`;
        try {
          return { sequence: await writer.append(end, id, bytes), id };
        } catch (error) {
          // A record that was refused with "another record is being appended" may still be in the log, but it did not win.
          return error instanceof WrongEnd ? 'refused' : `unknown: ${(error as Error).message}`;
        }
      }),
    );
    const won = results.filter((result) => typeof result === 'object');
    t.equal(won.length, 1, `round ${round}: ${JSON.stringify(results)}`);
    t.equal(won[0]!.sequence, end.sequence + 1);
    end = won[0]!;
  }
  const records = await eventually(async () => {
    const found = await writers[0]!.read(0);
    return found.length === ROUNDS && found;
  });
  t.same(records.at(-1)!.id, end.id);
});
