import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeConfig } from '../../load/config.js';
import { fetchBody } from '../../load/fetch_body.js';
import { type NatsServers, startNatsServers } from '../../load/nats_servers.js';
import { type ServerProcess, startService } from '../../load/server_process.js';
import { eventually } from '../../load/wait.js';
import { changeConfig, readiness, until } from '../service.js';
import type { ServerPower } from './synced_files.js';

export const ASSETS = 4;
export const PUBLISHERS = 4;
const SERVERS = 3;
/** The roles of the nodes 1, 2 and so on. */
const ROLES = ['aggregator', 'aggregator', 'edge', 'edge'] as const;
/** The time limit in which a started node must become ready, after any fault. */
const READY_MS_MAX = 120_000;

/** A node: a process of the service with its own configuration and keys. */
export class TortureNode {
  service: ServerProcess | undefined;
  /** The number of times that the process ended without a request. */
  crashes = 0;
  #isEnding = false;

  constructor(
    readonly number: number,
    readonly file: string,
  ) {}

  get isAggregator(): boolean {
    return ROLES[this.number - 1] === 'aggregator';
  }

  /**
   * Starts the service. A node exits if no message server answers at its start. The method then restarts the node, as a supervisor would.
   */
  async start(): Promise<void> {
    this.#isEnding = false;
    const start = () => startService(this.file, { isQuiet: true }).catch(() => false as const);
    const service = await eventually(start, { what: `node ${this.number} starts` });
    this.service = service;
    void service.ended.then(() => {
      if (this.service === service) this.service = undefined;
      if (!this.#isEnding) this.crashes++;
    });
  }

  untilReady(): Promise<void> {
    const isReady = async () =>
      this.service !== undefined && (await readiness(this.service).catch(() => undefined))?.status === 200;
    return until(`node ${this.number} is ready`, isReady, READY_MS_MAX);
  }

  /** Resolves when the process has ended. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const { service } = this;
    if (service === undefined) return;
    this.#isEnding = true;
    service.signal(signal);
    await service.ended;
  }
}

/** Three message servers, two aggregators and two edges. */
export class TortureCluster {
  /** @param power the records of synced bytes; `undefined` if the servers cannot lose power */
  private constructor(
    readonly servers: NatsServers,
    readonly nodes: readonly TortureNode[],
    readonly power: ServerPower | undefined,
  ) {}

  /**
   * Resolves when every node is ready.
   * @param binary the program of the message servers
   * @param power receives the synced bytes of the servers, so that a fault can cut their power
   */
  static async start(binary: string, power: ServerPower | undefined): Promise<TortureCluster> {
    const dir = mkdtempSync(join(tmpdir(), 'tickseal-cluster-'));
    process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
    const wrapper = power && ((server: number, folder: string) => power.command(server, folder));
    const options = { binary, count: SERVERS, roles: ROLES, syncAlways: true, ...(wrapper && { wrapper }) };
    const servers = await startNatsServers(options);
    const nodes = ROLES.map((_, i) => {
      return new TortureNode(i + 1, writeNodeConfig(i + 1, join(dir, `node${i + 1}`), servers));
    });
    // The first aggregator creates the streams, so the nodes start one after the other.
    for (const node of nodes) await node.start();
    await Promise.all(nodes.map((node) => node.untilReady()));
    return new TortureCluster(servers, nodes, power);
  }

  /** Returns the leading aggregator, according to an edge. */
  leader(): Promise<TortureNode> {
    const look = async () => {
      const edge = this.edges.find(({ service }) => service !== undefined)!;
      const { data } = JSON.parse(await fetchBody(edge.service!.port, '/v1/nodes')) as NodesAnswer;
      const number = data.nodes.find(({ role }) => role === 'leader')?.node;
      return this.nodes.find((node) => node.number === number && node.service !== undefined);
    };
    return eventually(look, { what: 'a node leads' });
  }

  get edges(): readonly TortureNode[] {
    return this.nodes.filter(({ isAggregator }) => !isAggregator);
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.end('SIGKILL')));
    await this.servers.stop();
  }
}

interface NodesAnswer {
  readonly data: { readonly nodes: readonly { readonly node: number; readonly role: string }[] };
}

/**
 * @param dir the folder of the node's configuration, keys and data
 * @returns the path of the configuration
 */
function writeNodeConfig(number: number, dir: string, nats: NatsServers): string {
  mkdirSync(dir);
  const role = ROLES[number - 1]!;
  // Each node prefers another server.
  const first = (number - 1) % SERVERS;
  const servers = [...nats.urls.slice(first), ...nats.urls.slice(0, first)];
  const cluster = { role, node: number, servers, credentials: nats.credentialsOf(number) };
  const load = { assets: ASSETS, publishers: PUBLISHERS, publicLog: role === 'aggregator', cluster };
  const { file } = writeConfig({ signatureType: 'evm', ...load }, dir);
  const streamKeyFile = join(dir, 'stream.hex');
  // The key begins with a zero byte, so the key is below the order of the curve.
  writeFileSync(streamKeyFile, `00${randomBytes(31).toString('hex')}`, { mode: 0o600 });
  changeConfig(file, ({ keys, assets }) => {
    // Each node signs payloads with a key of its own.
    keys['stream'] = { file: streamKeyFile };
    // With this low threshold, the service signs every change of a price.
    for (const asset of assets) asset['delta_percent'] = 0.000001;
  });
  return file;
}
