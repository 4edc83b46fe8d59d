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
import { openNatsBus } from '../../../src/cluster/nats/nats_bus.js';
import { serverProblem } from '../../../src/cluster/nats/nats_server_info.js';
import { natsBus, natsOptions, natsServers, needsNatsServer } from './servers.js';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const read = (records: readonly LogRecord[]) =>
  records.map(({ sequence, id, bytes }) => `${sequence} ${id} ${textOf(bytes)}`);

test('the log', needsNatsServer(), async (t) => {
  const { urls } = await natsServers(t, 1);
  const bus = await natsBus(t, urls);
  const reader = await natsBus(t, urls, { role: 'edge' });
  // Another cluster on the same servers has another log.
  await (await natsBus(t, urls, { name: 'other' })).append(LOG_START, 'o-1', bytesOf('other'));
  const committed: LogRecord[] = [];
  reader.onCommitted((record) => committed.push(record));
  t.same(await bus.extent(), { firstSequence: 1, last: LOG_START }, 'begins empty');
  t.equal(await bus.append(LOG_START, 'a-1', bytesOf('one')), 1);
  t.equal(await bus.append({ sequence: 1, id: 'a-1' }, 'a-2', bytesOf('two')), 2);
  t.equal(await bus.append({ sequence: 2, id: '' }, 'a-3', bytesOf('three')), 3, 'by the sequence alone');
  t.same(read(await reader.read(0)), ['1 a-1 one', '2 a-2 two', '3 a-3 three']);
  t.same(await bus.extent(), { firstSequence: 1, last: { sequence: 3, id: 'a-3' } });
  await eventually(() => committed.length === 3);
  t.same(read(committed), ['1 a-1 one', '2 a-2 two', '3 a-3 three'], 'with IDs and sequences');
  const refused = (after: LogPosition, id: string) =>
    t.rejects(bus.append(after, id, bytesOf('x')), WrongEnd);
  await refused({ sequence: 2, id: 'a-2' }, 'b-3');
  await refused({ sequence: 3, id: 'b-3' }, 'b-4');
  await refused({ sequence: 4, id: 'a-4' }, 'b-5');
  await refused(LOG_START, 'b-1');
  t.equal(await bus.append({ sequence: 2, id: 'a-2' }, 'a-3', bytesOf('three')), 3, 'again: where it is');
  t.equal((await bus.extent()).last.sequence, 3);
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

test('the shelf of candles', needsNatsServer(), async (t) => {
  const { urls } = await natsServers(t, 1);
  const { candles } = await natsBus(t, urls);
  const all = async (prefix?: readonly string[]) => {
    const found: string[] = [];
    for await (const { key, bytes } of candles.read(prefix)) found.push(`${key.join('/')} ${textOf(bytes)}`);
    return found;
  };
  await candles.put(['b7', 'd', '1'], bytesOf('day 1'));
  await candles.put(['e7', 'd', '1'], bytesOf('other'));
  await candles.put(['b7', 'd', '1'], bytesOf('day 1 again'));
  t.same(await all(), ['e7/d/1 other', 'b7/d/1 day 1 again']);
  t.same(await all(['b7']), ['b7/d/1 day 1 again']);
  for (let n = 0; n < 1_100; n += 1) await candles.put(['many', String(n)], bytesOf(String(n)));
  t.equal((await all(['many'])).length, 1_100, 'in several batches');
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
  await says({ credentials: 'nonsense' }, /neither a credentials file, nor an NKey seed, nor user:password/);
  const plain = await natsServers(t, 1, 'jetstream: disabled');
  await t.rejects(
    openNatsBus(natsOptions(plain.urls, { startMsMax: 300 })),
    /JetStream is not enabled on the NATS servers/,
  );
  const problemOf = (version: string) => serverProblem({ version, max_payload: 2 ** 20 }, 'x');
  for (const version of [NATS_SERVER_VERSION, '2.14.0-RC.1', '3.0.0']) t.equal(problemOf(version), undefined);
  for (const version of ['2.13.9', '1.20.0', '']) t.match(problemOf(version), /2\.14 or newer is needed/);
});
