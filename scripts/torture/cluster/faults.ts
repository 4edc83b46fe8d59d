import { randomInt } from 'node:crypto';
import { pause } from '../../load/wait.js';
import { logLeader } from './log_leader.js';
import type { TortureCluster, TortureNode } from './nodes.js';

/** The longest allowed silences, in milliseconds. */
export interface SilenceLimits {
  readonly stream: number;
  /** The limit for REST and durable answers, because both wait for the log. */
  readonly log: number;
}

/** A step of a fault: an action, and the nodes whose clients the check ignores, because the action affects these nodes. */
export interface Step {
  /** The name, which no other step has. */
  readonly name: string;
  readonly act: () => Promise<unknown>;
  readonly limits: SilenceLimits | undefined;
  readonly except: readonly TortureNode[];
}

/** Returns the steps of a fault, in order. */
export type Fault = (cluster: TortureCluster) => Promise<readonly Step[]>;

/** Makes a step. @param except the nodes that the action affects; default: none */
function step(
  name: string,
  act: () => Promise<unknown>,
  limits?: SilenceLimits,
  except: readonly TortureNode[] = [],
): Step {
  return { name, act, limits, except };
}

/** The limits after the loss of a node. The other nodes need the lease of one second. */
const NODE: SilenceLimits = { stream: 1_500, log: 1_500 };
/**
 * The limits after the loss of a message server. If the lost server led the log, the other servers elect a leader, which takes 4 to 9 s.
 */
const SERVER: SilenceLimits = { stream: 500, log: 10_000 };
/** The limits while a message server is frozen. Its nodes connect to the next server after 4 s. */
const FROZEN: SilenceLimits = { stream: 5_000, log: 10_000 };
const PLANNED: SilenceLimits = { stream: 300, log: 300 };
const LONG_STOP_MS = 24_000;

/** The faults of nodes and message servers, by name, in this order. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  async leaderKilled(cluster) {
    const leader = await cluster.leader();
    return [
      step('leader, `kill -9`', () => leader.end('SIGKILL'), NODE, [leader]),
      step('the killed leader started again', () => restart(leader), PLANNED, [leader]),
    ];
  },

  async leaderStopped(cluster) {
    const leader = await cluster.leader();
    return [step('leader frozen for 5 s', () => stopFor(leader, 5_000), NODE, [leader])];
  },

  async rollingUpgrade(cluster) {
    const leader = await cluster.leader();
    const upgrade = (name: string, node: TortureNode) =>
      step(`restart of ${name}`, () => node.end('SIGTERM').then(() => restart(node)), PLANNED, [node]);
    return [
      ...cluster.edges.map((edge) => upgrade(`edge ${edge.number}`, edge)),
      ...cluster.nodes
        .filter((node) => node.isAggregator && node !== leader)
        .map((node) => upgrade('the standby', node)),
      upgrade('the leader', leader),
    ];
  },

  async logLeaderKilled({ servers }) {
    const server = await logLeader(servers);
    return [
      step('the NATS server that leads the log, `kill -9`', () => servers.signal(server, 'SIGKILL'), SERVER),
      step('the killed NATS server started again', () => servers.start(server), SERVER),
    ];
  },

  async logLeaderStopped({ servers }) {
    const server = await logLeader(servers);
    // The connections to the server stay open, as when the network loses every packet.
    const stop = async () => {
      await servers.signal(server, 'SIGSTOP');
      await pause(LONG_STOP_MS);
      await servers.signal(server, 'SIGCONT');
    };
    return [step('the NATS server that leads the log frozen for 24 s', stop, FROZEN)];
  },

  async edgeStopped({ edges: [edge] }) {
    const name = 'an edge frozen for 10 s, clients of the others';
    return [step(name, () => stopFor(edge!, 10_000), PLANNED, [edge!])];
  },

  async serversStopped({ servers }) {
    return [
      step('all NATS servers away for 3 s', async () => {
        await Promise.all(servers.urls.map((_, server) => servers.signal(server, 'SIGTERM')));
        await pause(3_000);
        await Promise.all(servers.urls.map((_, server) => servers.start(server)));
      }),
    ];
  },
};

/** The faults of message servers that lose power, by name. They need the records of synced bytes. */
export const POWER_FAULTS: Readonly<Record<string, Fault>> = {
  async allLosePower({ servers, nodes, power }) {
    return [
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
  },

  async serverLosesPower({ servers, power }) {
    const paused = randomInt(servers.urls.length);
    const server = (paused + 1) % servers.urls.length;
    return [
      step('power cut of one server while another is frozen', async () => {
        await servers.signal(paused, 'SIGSTOP');
        await servers.signal(server, 'SIGKILL');
        // Some of the bytes that no `fsync` covered reached the disk.
        await power!.cut(server, Math.random);
        await pause(2_000 + randomInt(8_000));
        await servers.start(server);
        await servers.signal(paused, 'SIGCONT');
      }),
    ];
  },
};

async function restart(node: TortureNode): Promise<void> {
  await node.start();
  await node.untilReady();
}

async function stopFor({ service }: TortureNode, ms: number): Promise<void> {
  service!.signal('SIGSTOP');
  await pause(ms);
  service!.signal('SIGCONT');
}
