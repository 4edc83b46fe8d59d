import { randomInt } from 'node:crypto';
import { pause } from '../../load/wait.js';
import type { Fault } from './faults.js';

/** Cuts the power of one server. Some of the bytes that no `fsync` covered reached the disk. */
const serverLosesPower: Fault = async ({ servers, power }) => {
  const server = randomInt(servers.urls.length);
  return [
    {
      name: 'power cut of one server',
      except: [],
      async act() {
        await servers.signal(server, 'SIGKILL');
        await power!.cut(server, Math.random);
        await servers.start(server);
      },
    },
  ];
};

const allLosePower: Fault = async ({ servers, nodes, power }) => [
  {
    name: 'power cut of all servers and nodes',
    except: [],
    async act() {
      const all = [...servers.urls.keys()];
      await Promise.all([
        ...all.map((server) => servers.signal(server, 'SIGKILL')),
        ...nodes.map((node) => node.end('SIGKILL')),
      ]);
      await Promise.all(all.map((server) => power!.cut(server, () => 0)));
      await Promise.all(all.map((server) => servers.start(server)));
      await Promise.all(nodes.map((node) => node.start()));
    },
  },
];

const serverLosesPowerBesideCut: Fault = async (cluster) => {
  const { servers, power } = cluster;
  const server = randomInt(servers.urls.length);
  const away = (server + 1) % servers.urls.length;
  return [
    {
      name: 'power cut of one server while another is cut off',
      except: [],
      async act() {
        cluster.isolate(away, 'silent');
        await pause(3_000);
        await servers.signal(server, 'SIGKILL');
        await power!.cut(server, () => 0);
        cluster.isolate(away, 'open');
        await servers.start(server);
      },
    },
  ];
};

const serverPausedBesideKill: Fault = async ({ servers }) => {
  const paused = randomInt(servers.urls.length);
  const killed = (paused + 1) % servers.urls.length;
  return [
    {
      name: 'one server paused, another killed',
      except: [],
      async act() {
        await servers.signal(paused, 'SIGSTOP');
        await servers.signal(killed, 'SIGKILL');
        await pause(2_000 + randomInt(8_000));
        // The two servers may return in either order.
        const isPausedFirst = randomInt(2) === 0;
        if (isPausedFirst) await servers.signal(paused, 'SIGCONT');
        await servers.start(killed);
        await servers.signal(paused, 'SIGCONT');
      },
    },
  ];
};

/** The faults of servers that lose power, by name. They need the records of synced bytes. */
export const POWER_FAULTS: Readonly<Record<string, Fault>> = {
  serverLosesPower,
  allLosePower,
  serverLosesPowerBesideCut,
  serverPausedBesideKill,
};
