import { randomInt } from 'node:crypto';
import { pause } from '../../load/wait.js';
import { type Fault, step } from './faults.js';

const serverLosesPower: Fault = async ({ servers, power }) => {
  const server = randomInt(servers.urls.length);
  return [
    step('power cut of one server', async () => {
      await servers.signal(server, 'SIGKILL');
      // Some of the bytes that no `fsync` covered reached the disk.
      await power!.cut(server, Math.random);
      await servers.start(server);
    }),
  ];
};

const allLosePower: Fault = async ({ servers, nodes, power }) => [
  step('power cut of all servers and nodes', async () => {
    const all = [...servers.urls.keys()];
    await Promise.all([
      ...all.map((server) => servers.signal(server, 'SIGKILL')),
      ...nodes.map((node) => node.end('SIGKILL')),
    ]);
    await Promise.all(all.map((server) => power!.cut(server, () => 0)));
    await Promise.all(all.map((server) => servers.start(server)));
    await Promise.all(nodes.map((node) => node.start()));
  }),
];

const serverLosesPowerBesideCut: Fault = async (cluster) => {
  const { servers, power } = cluster;
  const server = randomInt(servers.urls.length);
  const away = (server + 1) % servers.urls.length;
  return [
    step('power cut of one server while another is cut off', async () => {
      cluster.isolate(away, 'silent');
      await pause(3_000);
      await servers.signal(server, 'SIGKILL');
      await power!.cut(server, () => 0);
      cluster.isolate(away, 'open');
      await servers.start(server);
    }),
  ];
};

const serverPausedBesideKill: Fault = async ({ servers }) => {
  const paused = randomInt(servers.urls.length);
  const killed = (paused + 1) % servers.urls.length;
  return [
    step('one server paused, another killed', async () => {
      await servers.signal(paused, 'SIGSTOP');
      await servers.signal(killed, 'SIGKILL');
      await pause(2_000 + randomInt(8_000));
      // The two servers may return in either order.
      if (randomInt(2) === 0) await servers.signal(paused, 'SIGCONT');
      await servers.start(killed);
      await servers.signal(paused, 'SIGCONT');
    }),
  ];
};

/** The faults of servers that lose power, by name. They need the records of synced bytes. */
export const POWER_FAULTS: Readonly<Record<string, Fault>> = {
  serverLosesPower,
  allLosePower,
  serverLosesPowerBesideCut,
  serverPausedBesideKill,
};
