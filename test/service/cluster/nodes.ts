import type { Test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import type { PrivateKeys } from '../../../src/config/private_keys.js';
import type { Clock } from '../../../src/model/time.js';
import { natsServers } from '../../cluster/nats/servers.js';
import { get, SERVICE_KEYS, type Sections, startTestService, type TestService } from '../harness.js';

/** The key with which an edge signs streaming payloads. */
export const STREAM_KEYS: PrivateKeys = { stream: Buffer.alloc(32, 0x22) };

interface NodeOptions {
  readonly dir?: string;
  readonly keys?: PrivateKeys;
  readonly clock?: Clock;
}

/** Starts nodes of a cluster in this process, on real servers. All of them end with the test. */
export class TestCluster {
  readonly #t: Test;
  /** The addresses of the servers. */
  readonly servers: readonly string[];

  /** @param servers the addresses of running servers */
  constructor(t: Test, servers: readonly string[]) {
    this.#t = t;
    this.servers = servers;
  }

  /** Starts servers that sync seldom, so that they are fast. @param count the number of servers */
  static async start(t: Test, count = 1): Promise<TestCluster> {
    return new TestCluster(t, (await natsServers(t, count)).urls);
  }

  /** @param keys the private keys of the node; default: those of an aggregator */
  async node(
    node: number,
    role: 'aggregator' | 'edge',
    sections: Sections = {},
    options: NodeOptions = {},
  ): Promise<TestService> {
    const keys = options.keys ?? (role === 'edge' ? STREAM_KEYS : SERVICE_KEYS);
    return startTestService(
      this.#t,
      {
        keys: Object.fromEntries(Object.keys(keys).map((name) => [name, { file: 'unused' }])),
        cluster: {
          role,
          node,
          servers: this.servers,
          replicas: this.servers.length > 1 ? 3 : 1,
          durable: 'memory',
        },
        ...sections,
      },
      { ...options, keys },
    );
  }
}

/** Resolves when the node is ready. */
export async function untilReady(service: TestService): Promise<void> {
  await eventually(async () => (await fetch(`${service.adminUrl}/readyz`)).status === 200);
}

/** Returns the current nodes, as listed by one node. */
export async function nodesOf(service: TestService): Promise<NodeEntry[]> {
  const body = (await (await get(`${service.url}/v1/nodes`)).json()) as {
    data: { nodes: NodeEntry[] };
  };
  return body.data.nodes;
}

interface NodeEntry {
  readonly node: number;
  readonly role: string;
}
