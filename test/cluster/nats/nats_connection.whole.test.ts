import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { LOG_START } from '../../../src/cluster/bus.js';
import { TcpProxy } from '../../tcp_proxy.js';
import { natsBus, natsServers, needsNatsServer } from './servers.js';

const bytes = new Uint8Array(100);

test(
  'a connection that carries nothing any more is left for the next server',
  needsNatsServer(),
  async (t) => {
    const { urls } = await natsServers(t, 3);
    const proxy = await TcpProxy.start(Number(new URL(urls[0]!).port));
    t.teardown(() => proxy.stop());
    const bus = await natsBus(t, [`nats://127.0.0.1:${proxy.port}`, ...urls.slice(1)]);
    const watcher = await natsBus(t, urls.slice(1));
    t.equal(bus.server, 'n1', 'the first is preferred');
    const committed: string[] = [];
    bus.onCommitted(({ id }) => committed.push(id));
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
    await eventually(() => bus.server === 'n2');
    t.equal(await bus.append({ sequence: 1, id: 'a-1' }, 'a-2', bytes), 2, 'what was lost is sent again');
    await eventually(() => committed.includes('a-2'));
    proxy.state = 'open';
    t.same(
      (await watcher.read(0)).map(({ id }) => id),
      ['a-1', 'a-2'],
      'nothing came later from the old connection',
    );
  },
);
