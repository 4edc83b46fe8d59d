import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { NATS_SERVER_VERSION } from '../../../src/cli/demo/find_nats_server.js';
import {
  LOG_START,
  type LogPosition,
  type LogRecord,
  MESSAGE_BYTES_MAX,
  WrongEnd,
} from '../../../src/cluster/bus.js';
import type { ServerDisk } from '../../../src/cluster/log/log_servers.js';
import { type NatsBus, openNatsBus } from '../../../src/cluster/nats/nats_bus.js';
import { serverProblem } from '../../../src/cluster/nats/nats_server_info.js';
import { credentialsOf, SHIPPED_ACCOUNTS, thiefOf } from './accounts.js';
import { greetingServer, natsBus, natsOptions, natsServers, needsNatsServer } from './servers.js';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const read = (records: readonly LogRecord[]) =>
  records.map(({ sequence, id, bytes }) => `${sequence} ${id} ${textOf(bytes)}`);

test('the log', needsNatsServer(), async (t) => {
  const { urls } = await natsServers(t, 1);
  const bus = await natsBus(t, urls);
  const reader = await natsBus(t, urls, { role: 'edge' });
  const committed: LogRecord[] = [];
  const stop = reader.onCommitted((record) => committed.push(record));
  t.same(await bus.extent(), { firstSequence: 1, last: LOG_START }, 'begins empty');
  t.same(await reader.read(0), [], 'nothing to read');
  t.equal(await bus.append(LOG_START, 'a-1', bytesOf('one')), 1);
  t.equal(await bus.append({ sequence: 1, id: 'a-1' }, 'a-2', bytesOf('two')), 2);
  t.equal(await bus.append({ sequence: 2, id: '' }, 'a-3', bytesOf('three')), 3, 'by the sequence alone');
  t.same(read(await reader.read(0)), ['1 a-1 one', '2 a-2 two', '3 a-3 three']);
  t.same(read(await reader.read(2)), ['3 a-3 three']);
  t.same(await bus.extent(), { firstSequence: 1, last: { sequence: 3, id: 'a-3' } });
  await eventually(() => committed.length === 3);
  t.same(read(committed), ['1 a-1 one', '2 a-2 two', '3 a-3 three'], 'with IDs and sequences');
  stop();
  const refused = (after: LogPosition, id: string) =>
    t.rejects(bus.append(after, id, bytesOf('x')), WrongEnd);
  await refused({ sequence: 2, id: 'a-2' }, 'b-3');
  await refused({ sequence: 3, id: 'b-3' }, 'b-4');
  await refused({ sequence: 4, id: 'a-4' }, 'b-5');
  await refused(LOG_START, 'b-1');
  t.equal(await bus.append({ sequence: 2, id: 'a-2' }, 'a-3', bytesOf('three')), 3, 'again: where it is');
  t.equal((await bus.extent()).last.sequence, 3);
  await t.rejects(bus.append({ sequence: 3, id: 'a-3' }, 'a.4', bytesOf('x')), RangeError);
  await t.rejects(bus.append({ sequence: 3, id: 'a-3' }, 'a-4', new Uint8Array(2 ** 21)), /max|payload/i);
});

test('a log whose records are all deleted goes on', needsNatsServer(), async (t) => {
  const { urls } = await natsServers(t, 1);
  const bus = await natsBus(t, urls, { logRetentionMs: 1_000 });
  await bus.append(LOG_START, 'a-1', bytesOf('one'));
  await bus.append({ sequence: 1, id: 'a-1' }, 'a-2', bytesOf('two'));
  await eventually(async () => (await bus.extent()).firstSequence === 3);
  t.same((await bus.extent()).last, { sequence: 2, id: '' });
  await t.rejects(bus.append({ sequence: 1, id: 'a-1' }, 'b-2', bytesOf('x')), WrongEnd);
  t.equal(await bus.append({ sequence: 2, id: 'a-2' }, 'a-3', bytesOf('three')), 3);
  await t.rejects(bus.read(1), /the log lacks the records 2 to 2/);
});

test('messages', needsNatsServer(), async (t) => {
  const { urls } = await natsServers(t, 1);
  const bus = await natsBus(t, urls);
  const other = await natsBus(t, urls, { role: 'edge' });
  const foreign = await natsBus(t, urls, { name: 'other' });
  const heard: string[] = [];
  const stop = other.listen('tick', (bytes) => heard.push(textOf(bytes)));
  const stopAnswer = bus.answer('full.7', async (bytes) => bytesOf(`${textOf(bytes)}!`));
  bus.answer('full.8', () => Promise.reject(new Error('cannot')));
  await eventually(
    async () => (await other.ask('full.7', bytesOf('?'), 5_000).catch(() => undefined)) !== undefined,
  );
  foreign.send('tick', bytesOf('foreign'));
  bus.send('tick', bytesOf('1'));
  await eventually(() => heard.length > 0);
  t.same(heard, ['1'], 'clusters share servers without hearing each other');
  t.equal(textOf(await other.ask('full.7', bytesOf('all'), 5_000)), 'all!');
  await t.rejects(other.ask('full.8', bytesOf('all'), 100), 'a handler that rejects gives no answer');
  await t.rejects(other.ask('full.9', bytesOf('all'), 60_000), /no responders/i);
  stop();
  stopAnswer();
  bus.send('tick', bytesOf('2'));
  // All earlier messages have taken effect when these requests are answered.
  await t.rejects(bus.ask('full.9', bytesOf('all'), 60_000));
  await t.rejects(other.ask('full.7', bytesOf('all'), 60_000), /no responders/i);
  t.same(heard, ['1'], 'stopped');
});

test('the shelf of candles', needsNatsServer(), async (t) => {
  const { urls } = await natsServers(t, 1);
  const { candles } = await natsBus(t, urls);
  const all = async (prefix?: readonly string[]) => {
    const found: string[] = [];
    for await (const { key, bytes } of candles.read(prefix)) found.push(`${key.join('/')} ${textOf(bytes)}`);
    return found;
  };
  t.same(await all(), []);
  await candles.put(['b7', 'd', '1'], bytesOf('day 1'));
  await candles.put(['b7', 'h', '1'], bytesOf('hour 1'));
  await candles.put(['e7', 'd', '1'], bytesOf('other'));
  await candles.put(['b7', 'd', '1'], bytesOf('day 1 again'));
  t.same(await all(), ['b7/h/1 hour 1', 'e7/d/1 other', 'b7/d/1 day 1 again']);
  t.same(await all(['b7']), ['b7/h/1 hour 1', 'b7/d/1 day 1 again']);
  for (let n = 0; n < 1_100; n += 1) await candles.put(['many', String(n)], bytesOf(String(n)));
  t.equal((await all(['many'])).length, 1_100, 'in several batches');
  await t.rejects(candles.put([], bytesOf('x')), RangeError);
  await t.rejects(candles.put(['a.b'], bytesOf('x')), RangeError);
});

test('an old server is refused', async (t) => {
  const old = openNatsBus(natsOptions([await greetingServer(t, '2.9.10')]));
  await t.rejects(old, /version 2\.9\.10; 2\.14 or newer is needed/);
  const problemOf = (version: string) => serverProblem({ version, max_payload: 2 ** 20 }, 'x');
  for (const version of [NATS_SERVER_VERSION, '2.14.0', '2.14.0-RC.1', '3.0.0'])
    t.equal(problemOf(version), undefined);
  for (const version of ['2.13.9', '1.20.0', 'unknown', '']) t.type(problemOf(version), 'string', version);
});

test('a server that takes only small messages is refused in words', needsNatsServer(), async (t) => {
  const { urls } = await natsServers(t, 1, 'max_payload: 64KB');
  await t.rejects(
    openNatsBus(natsOptions(urls)),
    /takes messages of at most 65536 bytes, and a record of the log may need 1048576: set max_payload to 1MB/,
  );
  const whole = await natsServers(t, 1, 'max_payload: 1MB');
  const bus = await natsBus(t, whole.urls);
  t.equal(await bus.append(LOG_START, 'a-1', new Uint8Array(MESSAGE_BYTES_MAX)), 1, 'with its headers');
});

test('a start that cannot succeed says why', needsNatsServer(), async (t) => {
  const [url] = (await natsServers(t, 1)).urls;
  const says = (options: Partial<Parameters<typeof natsOptions>[1]>, reason: RegExp) =>
    t.rejects(openNatsBus(natsOptions([url!], { startMsMax: 300, ...options })), reason);
  await says({ replicas: 3 }, /cluster\.replicas is 3, but the NATS servers cannot keep so many copies/);
  await says({ role: 'edge' }, /there is no stream TS_MAIN_LOG; an aggregator of the cluster makes it/);
  await says({ servers: ['nats://127.0.0.1:1'] }, /no connection to nats:\/\/127\.0\.0\.1:1: /);
  await says({ credentials: 'nonsense' }, /neither a credentials file, nor an NKey seed, nor user:password/);
  const plain = await natsServers(t, 1, 'jetstream: disabled');
  await t.rejects(
    openNatsBus(natsOptions(plain.urls, { startMsMax: 300 })),
    /JetStream is not enabled on the NATS servers/,
  );
});

test(
  'each server says when it syncs, also after its configuration was changed',
  needsNatsServer(),
  async (t) => {
    const synced = [true, false, true];
    const syncAlways = (server: number) => synced[server]!;
    const servers = await natsServers(t, 3, SHIPPED_ACCOUNTS, { syncAlways });
    const bus = await natsBus(t, servers.urls, { credentials: credentialsOf(1) });
    t.same(await intervals(bus, 3), { n1: 0, n2: 120_000, n3: 0 });
    const answers = await disksOf(bus);
    t.same(
      answers.map(({ server }) => server),
      ['n1', 'n2', 'n3'],
    );

    synced[1] = true;
    await servers.configure();
    await servers.signal(1, 'SIGTERM');
    const away = await eventually(async () => {
      const disks = await disksOf(bus).catch(() => []);
      return disks.find(({ server, isAway }) => server === 'n2' && isAway);
    });
    t.equal(away.syncMs, undefined);
    await servers.start(1);
    t.same(await intervals(bus, 3), { n1: 0, n2: 0, n3: 0 });

    const edge = await natsBus(t, servers.urls, { role: 'edge', credentials: credentialsOf(3) });
    t.same(
      (await disksOf(edge)).map(({ syncMs }) => syncMs),
      [undefined, undefined, undefined],
      'an edge may not ask',
    );
    const thief = await thiefOf(t, servers.urls);
    for (const subject of ['ts.main.servers', '$SYS.REQ.SERVER.PING.VARZ'])
      await t.rejects(thief.request(subject, '', { timeout: 1_000 }), /permission|no responders/i);
  },
);

test('servers whose accounts do not let a node ask are named', needsNatsServer(), async (t) => {
  const { urls } = await natsServers(t, 1);
  const bus = await natsBus(t, urls);
  t.same(await disksOf(bus), [{ server: 'n1', isAway: false, syncMs: undefined }]);
});

async function disksOf(bus: NatsBus): Promise<readonly ServerDisk[]> {
  return (await bus.serverReport(Date.now, true)).disks!;
}

/** Returns the interval of each server, after this many servers have answered. */
function intervals(bus: NatsBus, count: number): Promise<Record<string, number>> {
  return eventually(async () => {
    const disks = await disksOf(bus).catch(() => []);
    const known = disks.flatMap(({ server, syncMs }) =>
      syncMs === undefined ? [] : [[server, syncMs] as const],
    );
    return known.length === count && Object.fromEntries(known);
  });
}
