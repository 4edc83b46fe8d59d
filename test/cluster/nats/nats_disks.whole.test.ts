import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import type { ServerDisk } from '../../../src/cluster/log/log_servers.js';
import type { NatsBus } from '../../../src/cluster/nats/nats_bus.js';
import { credentialsOf, SHIPPED_ACCOUNTS, thiefOf } from './accounts.js';
import { natsBus, natsServers, needsNatsServer } from './servers.js';

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
