import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { boundedFetch } from '../../client/connect/bounded_fetch.js';
import { ADMIN_PATHS, REST_PATHS } from '../../wire/paths.js';
import { renderClusterBanner } from './cluster_banner.js';
import { KeptProcess, type KeptProcessOptions } from './kept_process.js';
import { LeaderWatch } from './leader_watch.js';
import { freePorts, type NatsServers, startNatsServers } from './nats_servers.js';
import { DEMO_ROLES, type DemoNode, prepareDemoCluster } from './prepare_cluster.js';
import { ProcessGuard } from './process_guard.js';
import { forkPublishers } from './simulation.js';

export interface RunClusterOptions {
  /** The path of the nats-server program. */
  readonly binary: string;
  readonly dataDir: string;
  /** The port of the first node. The other nodes have the next ports. With 0, the system chooses free ports. */
  readonly port: number;
  /** Writes text for the user of the demo. */
  readonly write: (text: string) => void;
  /** Aborted when the demo must end. */
  readonly stopSignal: AbortSignal;
}

const NATS_SERVERS = 3;
const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
/** The time limit of the whole start. The limit is long because the machine may be busy. */
const START_MS_MAX = 120_000;
/** The longest wait for prices. After this time, the demo prints its commands even without prices. */
const LIVE_MS_MAX = 15_000;
const POLL_MS = 100;
/** The interval between requests. A token may send five requests a second. */
const PRICE_POLL_MS = 500;
const ANSWER_MS_MAX = 2_000;

/**
 * Runs a cluster on this machine until the user stops it, and then removes its processes and files.
 * @throws Error with a message of one sentence when the cluster does not start
 */
export async function runCluster(options: RunClusterOptions): Promise<void> {
  const runDir = mkdtempSync(join(tmpdir(), 'tickseal-cluster-'));
  const guard = new ProcessGuard(runDir);
  const running = new RunningCluster(options, runDir, guard);
  try {
    await running.start();
    await stopped(options.stopSignal);
  } catch (error) {
    if (!options.stopSignal.aborted) throw error;
  } finally {
    await running.stop();
    await guard.close();
    rmSync(runDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

class RunningCluster {
  readonly #options: RunClusterOptions;
  readonly #runDir: string;
  readonly #guard: ProcessGuard;
  readonly #nodes: KeptProcess[] = [];
  readonly #nats: KeptProcess[] = [];
  #publishers: KeptProcess | undefined;
  #servers: NatsServers | undefined;
  #watch: LeaderWatch | undefined;

  constructor(options: RunClusterOptions, runDir: string, guard: ProcessGuard) {
    this.#options = options;
    this.#runDir = runDir;
    this.#guard = guard;
  }

  async start(): Promise<void> {
    const { dataDir, port } = this.#options;
    const free = await freePorts(2 * DEMO_ROLES.length);
    const servers = await this.#startNats();
    const cluster = prepareDemoCluster({
      dataDir,
      runDir: this.#runDir,
      ports: free.slice(0, DEMO_ROLES.length).map((one, index) => (port === 0 ? one : port + index)),
      adminPorts: free.slice(DEMO_ROLES.length),
      servers: servers.urls,
      credentialsOf: (node) => servers.credentialsOf(node),
    });
    await this.#startNodes(cluster.nodes);
    const watch = new LeaderWatch(cluster.nodes, this.#say);
    this.#watch = watch;
    await watch.start();
    const publishersAt = cluster.nodes.find(({ role }) => role === 'edge')!;
    await this.#startPublishers(publishersAt);
    await untilPriced(publishersAt, cluster.token, this.#options.stopSignal);
    this.#options.write(
      renderClusterBanner({
        ...cluster,
        leader: watch.leader,
        publishersAt,
        pidOf: ({ number }) => this.#nodes[number - 1]!.pid,
        natsPid: this.#nats[0]!.pid,
        runDir: this.#runDir,
      }),
    );
  }

  /** Ends all started processes, in the reverse order of their start. */
  async stop(): Promise<void> {
    this.#watch?.stop();
    await this.#publishers?.stop();
    for (const group of [this.#nodes, this.#nats]) await Promise.all(group.map((process) => process.stop()));
    await this.#servers?.stop();
  }

  async #startNats(): Promise<NatsServers> {
    const { binary } = this.#options;
    const servers = await startNatsServers({
      binary,
      count: NATS_SERVERS,
      roles: DEMO_ROLES,
      syncAlways: true,
      detached: true,
      folder: this.#runDir,
      onSpawn: (server) => this.#guard.add(server),
    });
    this.#servers = servers;
    for (const index of servers.urls.keys())
      this.#nats.push(this.#process(`NATS server ${index + 1}`, () => servers.start(index)));
    await startAll(this.#nats);
    return servers;
  }

  async #startNodes(nodes: readonly DemoNode[]): Promise<void> {
    for (const node of nodes)
      this.#nodes.push(this.#process(`node ${node.number}`, () => this.#guard.add(spawnNode(node))));
    await startAll(this.#nodes, (process, index) =>
      untilReady(nodes[index]!, process, this.#options.stopSignal),
    );
  }

  async #startPublishers({ url }: DemoNode): Promise<void> {
    const { dataDir } = this.#options;
    const options = { dataDir, url: url.replace(/^http/, 'ws') };
    this.#publishers = this.#process('the simulated publishers', () => forkPublishers(options));
    await startAll([this.#publishers]);
  }

  #process(name: string, spawn: KeptProcessOptions['spawn']): KeptProcess {
    return new KeptProcess({ name, spawn, say: this.#say });
  }

  readonly #say = (line: string): void => {
    this.#options.write(`${new Date().toISOString().slice(11, 19)}  ${line}`);
  };
}

/** Starts processes. Once all processes are ready, a process that ends is restarted. */
async function startAll(
  processes: readonly KeptProcess[],
  ready: (process: KeptProcess, index: number) => Promise<void> = async () => {},
): Promise<void> {
  await Promise.all(processes.map((process) => process.start()));
  await Promise.all(processes.map(ready));
  for (const process of processes) process.keep();
}

/**
 * Starts a node, which runs the same program as this process. A node logs to a file, because users read the log only after a
 * failure.
 */
function spawnNode({ configFile, logFile }: DemoNode): ChildProcess {
  const log = openSync(logFile, 'a', 0o600);
  try {
    return spawn(process.execPath, [MAIN, 'serve', '--simulated', '--config', configFile], {
      stdio: ['ignore', log, log],
    });
  } finally {
    closeSync(log);
  }
}

/**
 * Waits until a node is ready.
 * @throws Error when the process ends or takes too long, or when the demo must end
 */
async function untilReady(
  { adminUrl, logFile }: DemoNode,
  process: KeptProcess,
  stopSignal: AbortSignal,
): Promise<void> {
  const endMs = performance.now() + START_MS_MAX;
  while (!(await answers(adminUrl + ADMIN_PATHS.ready))) {
    stopSignal.throwIfAborted();
    if (!process.isUp) throw new Error(`${process.name} does not start: ${lastLine(logFile)}`);
    if (performance.now() > endMs)
      throw new Error(`${process.name} is not ready after ${START_MS_MAX / 1000} s: ${lastLine(logFile)}`);
    await wait(POLL_MS);
  }
}

/**
 * Waits for prices, because the printed commands should show prices immediately. If no prices arrive in time, the demo prints the
 * commands without them.
 */
async function untilPriced({ url }: DemoNode, token: string, stopSignal: AbortSignal): Promise<void> {
  const endMs = performance.now() + LIVE_MS_MAX;
  const headers = { Authorization: `Basic ${token}` };
  while (!(await answers(`${url}${REST_PATHS.latest}?assets=BTCUSD`, headers, '"BTCUSD":'))) {
    stopSignal.throwIfAborted();
    if (performance.now() > endMs) return;
    await wait(PRICE_POLL_MS);
  }
}

async function answers(url: string, headers: Record<string, string> = {}, text = ''): Promise<boolean> {
  try {
    const answer = await boundedFetch({ url, headers, answerMsMax: ANSWER_MS_MAX });
    return answer.status === 200 && (await answer.wholeText()).includes(text);
  } catch {
    return false;
  }
}

function lastLine(file: string): string {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return text.trim().split('\n').at(-1) || 'it said nothing';
}

function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
