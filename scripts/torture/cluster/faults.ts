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
/** The limits during a network partition. */
const CUT: SilenceLimits = { stream: 1_500, log: 10_000 };
/**
 * The limits when only one link between two message servers is cut. Until the link is healed, the servers may elect a leader of the log
 * again and again, because not all of them hear each leader; then one more election may follow.
 */
const LINK_CUT_MS = 15_000;
const LINK: SilenceLimits = { stream: 1_500, log: LINK_CUT_MS + 10_000 };
const PLANNED: SilenceLimits = { stream: 300, log: 300 };
const LONG_CUT_MS = 24_000;

/** The faults of nodes, connections and message servers, by name, in this order. */
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
      upgrade('the standby', cluster.standby(leader)),
      upgrade('the leader', leader),
    ];
  },

  async leaderSilenced(cluster) {
    const leader = await cluster.leader();
    const proxy = leader.proxies[leader.server]!;
    const silence = async () => {
      proxy.state = 'silent';
      await pause(5_000);
    };
    const heal = async () => {
      proxy.state = 'open';
    };
    return [
      step("leader's connection loses every packet", silence, NODE, [leader]),
      step("the leader's connection healed", heal, PLANNED, [leader]),
    ];
  },

  async logLeaderKilled({ servers }) {
    const server = await logLeader(servers);
    return [
      step('the NATS server that leads the log, `kill -9`', () => servers.signal(server, 'SIGKILL'), SERVER),
      step('the killed NATS server started again', () => servers.start(server), SERVER),
    ];
  },

  async linkCut(cluster) {
    const server = await logLeader(cluster.servers);
    // Nodes at the two servers do not receive each other's messages.
    const cut = () => cluster.cut(LINK_CUT_MS, server, (server + 1) % cluster.servers.urls.length);
    return [step("one link of the log's leader to another NATS server cut for 15 s", cut, LINK)];
  },

  async serverCutOff(cluster) {
    // The fault needs nodes on their preferred servers. If both aggregators were isolated, no node could lead.
    for (const node of cluster.nodes.filter((one) => one.server !== one.home)) {
      await node.end('SIGTERM');
      await restart(node);
    }
    const { server } = await cluster.leader();
    const behind = cluster.nodes.filter((node) => node.server === server);
    return [
      step("leader's NATS server cut off for 24 s", () => cluster.cut(LONG_CUT_MS, server), CUT, behind),
    ];
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

  async serverLosesPower(cluster) {
    const { servers, power } = cluster;
    const server = randomInt(servers.urls.length);
    return [
      step('power cut of one server while another is cut off', async () => {
        const cut = cluster.cut(3_000, (server + 1) % servers.urls.length);
        await servers.signal(server, 'SIGKILL');
        // Some of the bytes that no `fsync` covered reached the disk.
        await power!.cut(server, Math.random);
        await cut;
        await servers.start(server);
      }),
    ];
  },

  async serverPausedBesideKill({ servers }) {
    const paused = randomInt(servers.urls.length);
    const killed = (paused + 1) % servers.urls.length;
    return [
      step('one server paused, another killed', async () => {
        await servers.signal(paused, 'SIGSTOP');
        await servers.signal(killed, 'SIGKILL');
        await pause(2_000 + randomInt(8_000));
        await servers.start(killed);
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
