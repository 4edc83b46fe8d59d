import { test } from 'tap';
import { TcpProxy } from '../../../scripts/load/tcp_proxy.js';
import { eventually } from '../../../scripts/load/wait.js';
import { LOG_START, type LogPosition, WrongEnd } from '../../../src/cluster/bus.js';
import type { NatsBus } from '../../../src/cluster/nats/nats_bus.js';
import { natsBus, natsServers, needsNatsServer } from './servers.js';

const WRITERS = 6;
const ROUNDS = 100;
const bytes = new Uint8Array(100);

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

test(
  'a server that is cut off from the others commits nothing, and catches up',
  needsNatsServer(),
  async (t) => {
    const proxies: TcpProxy[] = [];
    const ofThird: TcpProxy[] = [];
    t.teardown(() => Promise.all(proxies.map((proxy) => proxy.stop())));
    const servers = await natsServers(t, 3, '', {
      async routePort(from, to, port) {
        const proxy = await TcpProxy.start(port);
        proxies.push(proxy);
        if (from === 2 || to === 2) ofThird.push(proxy);
        return proxy.port;
      },
    });
    // This bus has 3 copies of the log. A bus with a single address has only one copy by default, which may be on the isolated
    // server.
    const third = await natsBus(t, [servers.urls[2]!], { replicas: 3 });
    const first = await natsBus(t, [servers.urls[0]!], { replicas: 3 });
    await eventually(() => first.append(LOG_START, 'a-1', bytes).catch(() => undefined));
    await eventually(async () => (await third.read(0)).length === 1);
    for (const proxy of ofThird) proxy.state = 'closed';
    await t.rejects(third.append({ sequence: 1, id: 'a-1' }, 'c-2', bytes));
    const append = () => first.append({ sequence: 1, id: 'a-1' }, 'a-2', bytes).catch(() => undefined);
    t.equal(await eventually(append), 2, 'the other two go on');
    for (const proxy of ofThird) proxy.state = 'open';
    await eventually(async () => (await third.read(1).catch(() => [])).some(({ id }) => id === 'a-2'));
    const late = () =>
      third
        .append({ sequence: 1, id: 'a-1' }, 'c-2', bytes)
        .catch((error: Error) => error instanceof WrongEnd);
    t.equal(await eventually(late), true, 'what it tried is refused now');
    // Any server may answer a read, even a server that is behind.
    const records = await eventually(async () => {
      const found = await first.read(0);
      return found.length > 1 && found;
    });
    t.same(
      records.map(({ id }) => id),
      ['a-1', 'a-2'],
    );
  },
);
