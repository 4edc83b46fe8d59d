import { pause } from '../../load/wait.js';
import { removePeer } from './log_leader.js';
import type { TortureCluster } from './nodes.js';
import { flip, removeSnapshots, type StoredPart, truncate } from './stored_files.js';
import type { SyncedFiles } from './synced_files.js';

/** The cluster that a fault affects. */
export interface Scene {
  readonly cluster: TortureCluster;
  /** The records of synced bytes, one for each server. */
  readonly files: readonly SyncedFiles[];
  /** Returns a random number: at least 0 and below 1. */
  readonly random: () => number;
}

export interface JepsenFault {
  readonly name: string;
  /** Injects the fault, and resolves with a description when every process runs again. */
  readonly act: (scene: Scene) => Promise<string>;
  /** True when a copy of the log is gone for good, so that the cluster withstands no further fault. */
  readonly isLast?: boolean;
}

type Damage = (dir: string, random: () => number) => string | undefined;

/** The time for which a server runs with damaged files. */
const DAMAGED_MS = 3_000;
const PAUSED_MS = 8_000;
const PARTS: readonly StoredPart[] = ['the log', "the log's raft group"];

/**
 * The faults of Jepsen's analysis of NATS 2.12, and similar faults. Each fault affects a minority of the servers, or is a power
 * loss of all servers.
 */
export const JEPSEN_FAULTS: readonly JepsenFault[] = [
  stopped('block truncated', (dir, random) => truncate(dir, pick(PARTS, random), random)),
  stopped('bit flipped in the middle', (dir, random) => flip(dir, pick(PARTS, random), 'middle', random)),
  stopped('bit flipped at the end', (dir, random) => flip(dir, pick(PARTS, random), 'end', random)),
  running('block truncated', (dir, random) => truncate(dir, pick(PARTS, random), random)),
  running('bit flipped in the middle', (dir, random) => flip(dir, pick(PARTS, random), 'middle', random)),
  running('bit flipped at the end', (dir, random) => flip(dir, pick(PARTS, random), 'end', random)),
  stopped('snapshots of _meta_ removed', (dir) => removeSnapshots(dir, '_meta_')),
  stopped('all snapshots in $SYS removed', (dir) => removeSnapshots(dir, 'all groups')),
  {
    name: 'power cut of one server',
    async act(scene) {
      const server = anyServer(scene);
      await scene.cluster.servers.signal(server, 'SIGKILL');
      const lost = await scene.files[server]!.cut(scene.random);
      await scene.cluster.servers.start(server);
      return `server ${server + 1} loses ${lost} bytes`;
    },
  },
  {
    name: 'power cut of all servers and nodes',
    async act({ cluster, files }) {
      const { servers, nodes } = cluster;
      await Promise.all([
        ...files.map((_, server) => servers.signal(server, 'SIGKILL')),
        ...nodes.map((node) => node.end('SIGKILL')),
      ]);
      const lost = await Promise.all(files.map((one) => one.cut(() => 0)));
      await Promise.all(files.map((_, server) => servers.start(server)));
      await Promise.all(nodes.map((node) => node.start()));
      return `the servers lose ${lost.join(', ')} bytes`;
    },
  },
  {
    name: 'power cut of one server while another is cut off',
    async act(scene) {
      const { cluster, files } = scene;
      const server = anyServer(scene);
      const away = otherServer(scene, server);
      cluster.isolate(away, 'silent');
      await pause(DAMAGED_MS);
      await cluster.servers.signal(server, 'SIGKILL');
      const lost = await files[server]!.cut(() => 0);
      cluster.isolate(away, 'open');
      await cluster.servers.start(server);
      return `server ${server + 1} loses ${lost} bytes while ${away + 1} is cut off`;
    },
  },
  {
    name: 'one server paused, another killed',
    async act(scene) {
      const { servers } = scene.cluster;
      const paused = anyServer(scene);
      const killed = otherServer(scene, paused);
      await servers.signal(paused, 'SIGSTOP');
      await servers.signal(killed, 'SIGKILL');
      await pause(PAUSED_MS * (0.25 + scene.random()));
      // The two servers may return in either order.
      const isPausedFirst = scene.random() < 0.5;
      if (isPausedFirst) await servers.signal(paused, 'SIGCONT');
      await Promise.all([servers.start(killed), isPausedFirst || pause(1_000)]);
      if (!isPausedFirst) await servers.signal(paused, 'SIGCONT');
      return `server ${paused + 1} paused, ${killed + 1} killed`;
    },
  },
  {
    name: 'leading node killed',
    async act({ cluster }) {
      const leader = await cluster.leader();
      await leader.end('SIGKILL');
      await pause(DAMAGED_MS);
      await leader.start();
      return `node ${leader.number}`;
    },
  },
  {
    name: 'peer removed',
    isLast: true,
    async act(scene) {
      const { servers } = scene.cluster;
      const server = anyServer(scene);
      // The server may run, or may be down like a lost machine. It starts again with its stored data.
      const isLost = scene.random() < 0.5;
      if (isLost) await servers.signal(server, 'SIGKILL');
      await removePeer(() => servers.urls[otherServer(scene, server)]!, server);
      await pause(DAMAGED_MS);
      await servers.start(server);
      return `server ${server + 1}${isLost ? ', which was lost' : ''}`;
    },
  },
];

/** Damages the files of a stopped server. */
function stopped(what: string, damage: Damage): JepsenFault {
  return {
    name: `${what}, server stopped`,
    async act(scene) {
      const { servers } = scene.cluster;
      const server = anyServer(scene);
      await servers.signal(server, 'SIGKILL');
      const done = damage(servers.storage(server), scene.random);
      await servers.start(server);
      return `server ${server + 1}, ${done ?? 'nothing to damage'}`;
    },
  };
}

/** Damages the files of a running server. The server reads these files at a later start. */
function running(what: string, damage: Damage): JepsenFault {
  return {
    name: `${what}, server running`,
    async act(scene) {
      const { servers } = scene.cluster;
      const server = anyServer(scene);
      const done = damage(servers.storage(server), scene.random);
      await pause(DAMAGED_MS);
      await servers.signal(server, 'SIGKILL');
      await servers.start(server);
      return `server ${server + 1}, ${done ?? 'nothing to damage'}`;
    },
  };
}

function anyServer({ cluster, random }: Scene): number {
  return Math.floor(random() * cluster.servers.urls.length);
}

function otherServer({ cluster, random }: Scene, server: number): number {
  const count = cluster.servers.urls.length;
  return (server + 1 + Math.floor(random() * (count - 1))) % count;
}

function pick<T>(some: readonly T[], random: () => number): T {
  return some[Math.floor(random() * some.length)]!;
}
