import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeConfig } from '../../load/config.js';
import { fetchBody } from '../../load/fetch_body.js';
import { type NatsServers, startNatsServers } from '../../load/nats_servers.js';
import { type ServerProcess, startService } from '../../load/server_process.js';
import { TcpProxy } from '../../load/tcp_proxy.js';
import { eventually, pause } from '../../load/wait.js';
import { changeConfig, readiness, until } from '../service.js';
import type { ServerPower } from './synced_files.js';

export const ASSETS = 4;
export const PUBLISHERS = 4;
const SERVERS = 3;
const AGGREGATORS = 2;
const EDGES = 2;
/** The time limit in which a started node must become ready, after any fault. */
const READY_MS_MAX = 120_000;

/** A node: a process of the service with its own configuration and keys, and with a proxy to each message server. */
export class TortureNode {
  service: ServerProcess | undefined;
  /** The number of times that the process ended without a request. */
  crashes = 0;
  #isEnding = false;

  /** @param proxies the proxies by message server. The node uses the proxy that has a connection */
  constructor(
    readonly number: number,
    readonly file: string,
    readonly proxies: readonly TcpProxy[],
  ) {}

  get isAggregator(): boolean {
    return this.number <= AGGREGATORS;
  }

  /** The message server that the node's configuration prefers. */
  get home(): number {
    return (this.number - 1) % SERVERS;
  }

  /** The message server to which the node is connected. */
  get server(): number {
    return this.proxies.findIndex(({ connections }) => connections > 0);
  }

  async start(): Promise<void> {
    this.#isEnding = false;
    const service = await this.#startService();
    this.service = service;
    void service.ended.then(() => {
      if (this.service === service) this.service = undefined;
      if (!this.#isEnding) this.crashes++;
    });
  }

  /**
   * Starts the service. A node exits if no message server answers at its start. The method then restarts the node, as a
   * supervisor would.
   */
  #startService(): Promise<ServerProcess> {
    const start = () => startService(this.file, { isQuiet: true }).catch(() => false as const);
    return eventually(start, { what: `node ${this.number} starts` });
  }

  untilReady(): Promise<void> {
    return until(`node ${this.number} is ready`, () => this.isReady(), READY_MS_MAX);
  }

  async isReady(): Promise<boolean> {
    if (this.service === undefined) return false;
    return (await readiness(this.service).catch(() => undefined))?.status === 200;
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

/** Three message servers, two aggregators and two edges. Every connection between them has a proxy. */
export class TortureCluster {
  /** The proxies between servers, by `from to`. */
  readonly #routes: ReadonlyMap<string, TcpProxy>;

  /** @param power the records of synced bytes; `undefined` if the servers cannot lose power */
  private constructor(
    readonly servers: NatsServers,
    routes: ReadonlyMap<string, TcpProxy>,
    readonly nodes: readonly TortureNode[],
    readonly power: ServerPower | undefined,
  ) {
    this.#routes = routes;
  }

  /**
   * Resolves when every node is ready.
   * @param binary the program of the message servers
   * @param power receives the synced bytes of the servers, so that a fault can cut their power
   */
  static async start(binary: string, power: ServerPower | undefined): Promise<TortureCluster> {
    const dir = mkdtempSync(join(tmpdir(), 'tickseal-cluster-'));
    process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
    const routes = new Map<string, TcpProxy>();
    const routePort = async (from: number, to: number, port: number) => {
      const proxy = await TcpProxy.start(port);
      routes.set(`${from} ${to}`, proxy);
      return proxy.port;
    };
    const roles = [...Array(AGGREGATORS).fill('aggregator'), ...Array(EDGES).fill('edge')];
    const servers = await startNatsServers({
      binary,
      count: SERVERS,
      roles,
      routePort,
      syncAlways: true,
      ...(power && { wrapper: (server, folder) => power.command(server, folder) }),
    });
    const nodes: TortureNode[] = [];
    for (let number = 1; number <= AGGREGATORS + EDGES; number++)
      nodes.push(await prepareNode(number, join(dir, `node${number}`), servers));
    const cluster = new TortureCluster(servers, routes, nodes, power);
    // The first aggregator creates the streams, so the nodes start one after the other.
    for (const node of nodes) await node.start();
    await cluster.untilReady();
    return cluster;
  }

  get crashes(): number {
    return this.nodes.reduce((sum, { crashes }) => sum + crashes, 0);
  }

  async untilReady(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.untilReady()));
  }

  /** Returns the leading aggregator, according to an edge. */
  async leader(): Promise<TortureNode> {
    let leader: TortureNode | undefined;
    await until('a node leads', async () => {
      const edge = this.nodes.find(({ isAggregator, service }) => !isAggregator && service !== undefined)!;
      const { data } = JSON.parse(await fetchBody(edge.service!.port, '/v1/nodes')) as NodesAnswer;
      const number = data.nodes.find(({ role }) => role === 'leader')?.node;
      leader = this.nodes.find((node) => node.number === number && node.service !== undefined);
      return leader !== undefined;
    });
    return leader!;
  }

  standby(leader: TortureNode): TortureNode {
    return this.nodes.find((node) => node.isAggregator && node !== leader)!;
  }

  get edges(): readonly TortureNode[] {
    return this.nodes.filter(({ isAggregator }) => !isAggregator);
  }

  /** Cuts the connections between two servers for a time, or those of one server to all others. */
  async cut(ms: number, one: number, other?: number): Promise<void> {
    const isCut = (name: string) =>
      [one, other].every((server) => server === undefined || name.split(' ').includes(String(server)));
    const routes = [...this.#routes].filter(([name]) => isCut(name));
    for (const [, proxy] of routes) proxy.state = 'silent';
    await pause(ms);
    for (const [, proxy] of routes) proxy.state = 'open';
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.end('SIGKILL')));
    await this.servers.stop();
    for (const { proxies } of this.nodes) for (const proxy of proxies) void proxy.stop();
    for (const proxy of this.#routes.values()) void proxy.stop();
    await pause(0);
  }
}

interface NodesAnswer {
  readonly data: { readonly nodes: readonly { readonly node: number; readonly role: string }[] };
}

/** @param dir the folder of the node's configuration, keys and data */
async function prepareNode(number: number, dir: string, servers: NatsServers): Promise<TortureNode> {
  mkdirSync(dir);
  const proxies = await Promise.all(servers.urls.map((url) => TcpProxy.start(Number(new URL(url).port))));
  const isAggregator = number <= AGGREGATORS;
  const cluster = {
    role: isAggregator ? 'aggregator' : 'edge',
    node: number,
    servers: proxies.map((_, i) => `nats://127.0.0.1:${proxies[(number - 1 + i) % SERVERS]!.port}`),
    credentials: servers.credentialsOf(number),
  } as const;
  const load = { assets: ASSETS, publishers: PUBLISHERS, publicLog: isAggregator, cluster };
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
  return new TortureNode(number, file, proxies);
}
