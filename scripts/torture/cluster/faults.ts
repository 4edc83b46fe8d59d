import { pause } from '../../load/wait.js';
import { logLeader, moveLogLeader } from './log_leader.js';
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
  readonly limits: SilenceLimits | undefined;
  readonly except: readonly TortureNode[];
  readonly act: () => Promise<void>;
  /** The nodes whose clients the check measures separately, with separate limits. */
  readonly apart?: {
    readonly name: string;
    readonly nodes: readonly TortureNode[];
    readonly limits: SilenceLimits;
  };
}

/** Returns the steps of a fault, in order. */
export type Fault = (cluster: TortureCluster) => Promise<readonly Step[]>;

/** Makes a step. @param except the nodes that the action affects; default: none */
export function step(
  name: string,
  act: () => Promise<void>,
  limits?: SilenceLimits,
  except: readonly TortureNode[] = [],
): Step {
  return { name, limits, except, act };
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
/**
 * The limits for isolated nodes. A node that misses another node connects to another server when the log is silent for 1.5 s, and then
 * reads the log. Until the servers have detected the partition, they may send the node's request to the unreachable server. The node then
 * repeats its request after 1 s.
 */
const BEHIND: SilenceLimits = { stream: 1_500, log: 10_000 };
const LONG_CUT_MS = 24_000;
const HEALED_MS = 10_000;

const leaderKilled: Fault = async (cluster) => {
  const leader = await cluster.leader();
  return [
    step('leader, `kill -9`', () => leader.end('SIGKILL'), NODE, [leader]),
    step('the killed leader started again', () => restart(leader), PLANNED, [leader]),
  ];
};

const leaderStopped: Fault = async (cluster) => {
  const leader = await cluster.leader();
  return [step('leader frozen for 5 s', () => stopFor(leader, 5_000), NODE, [leader])];
};

const rollingUpgrade: Fault = async (cluster) => {
  const leader = await cluster.leader();
  const upgrade = (name: string, node: TortureNode) =>
    step(
      `restart of ${name}`,
      async () => {
        await node.end('SIGTERM');
        await restart(node);
      },
      PLANNED,
      [node],
    );
  return [
    ...cluster.edges.map((edge) => upgrade(`edge ${edge.number}`, edge)),
    upgrade('the standby', cluster.standby(leader)),
    upgrade('the leader', leader),
  ];
};

const leaderSilenced: Fault = async (cluster) => {
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
};

const serverCutOff: Fault = async (cluster) => {
  // The fault needs nodes on their preferred servers. If both aggregators were isolated, no node could lead.
  for (const node of cluster.nodes) {
    if (node.server === node.home) continue;
    await node.end('SIGTERM');
    await restart(node);
  }
  const leader = await cluster.leader();
  const { server } = leader;
  await moveLogLeader(cluster.servers, (server + 1) % cluster.servers.urls.length);
  const behind = cluster.nodes.filter((node) => node.server === server);
  const cut = async () => {
    cluster.isolate(server, 'silent');
    await pause(LONG_CUT_MS);
  };
  const heal = async () => {
    cluster.isolate(server, 'open');
    // The returning server may cause a new election.
    await pause(HEALED_MS);
  };
  return [
    {
      ...step("leader's NATS server cut off, the log's leader elsewhere", cut, CUT, behind),
      apart: { name: 'the same, for clients of nodes behind the cut', nodes: behind, limits: BEHIND },
    },
    step('the cut healed; the NATS servers may elect again', heal, CUT, behind),
  ];
};

const logLeaderKilled: Fault = async ({ servers }) => {
  const server = await logLeader(servers);
  return [
    step('the NATS server that leads the log, `kill -9`', () => servers.signal(server, 'SIGKILL'), SERVER),
    step('the killed NATS server started again', async () => void (await servers.start(server)), SERVER),
  ];
};

const linkCut: Fault = async (cluster) => {
  const server = await logLeader(cluster.servers);
  const other = (server + 1) % cluster.servers.urls.length;
  // Nodes at the two servers do not receive each other's messages.
  const cut = async () => {
    cluster.link(server, other, 'silent');
    await pause(LINK_CUT_MS);
    cluster.link(server, other, 'open');
  };
  return [step("one link of the log's leader to another NATS server cut for 15 s", cut, LINK)];
};

const edgeStopped: Fault = async ({ edges: [edge] }) => [
  step('an edge frozen for 10 s, clients of the others', () => stopFor(edge!, 10_000), PLANNED, [edge!]),
];

const serversStopped: Fault = async ({ servers }) => [
  step('all NATS servers away for 3 s', async () => {
    await Promise.all(servers.urls.map((_, server) => servers.signal(server, 'SIGTERM')));
    await pause(3_000);
    await Promise.all(servers.urls.map((_, server) => servers.start(server)));
  }),
];

/** All faults by name, in this order. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  leaderKilled,
  leaderStopped,
  rollingUpgrade,
  leaderSilenced,
  logLeaderKilled,
  linkCut,
  serverCutOff,
  edgeStopped,
  serversStopped,
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
