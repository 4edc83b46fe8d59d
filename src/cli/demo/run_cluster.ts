import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { boundedFetch } from '../../client/connect/bounded_fetch.js';
import { REST_PATHS } from '../../wire/paths.js';
import { untilStopped } from '../service_process.js';
import { renderClusterBanner } from './cluster_banner.js';
import {
  type ClusterPlaces,
  type ClusterProgram,
  type DemoCluster,
  prepareDemoCluster,
} from './prepare_cluster.js';
import { endProcess, hasEnded, startSimulation } from './simulation.js';

export interface RunClusterOptions extends ClusterPlaces {
  /** Writes text for the user of the demo. */
  readonly write: (text: string) => void;
  /** Aborted when the demo must end. */
  readonly stopSignal: AbortSignal;
}

type Children = ReadonlyMap<ClusterProgram, ChildProcess>;

/** The time limit of the whole start. The limit is long because the machine may be busy. */
const START_MS_MAX = 120_000;
/** The interval between requests. A token may send five requests a second, and each time the demo sends two. */
const POLL_MS = 500;
const ANSWER_MS_MAX = 2_000;

/**
 * Runs a cluster on this machine until the user stops it, and then ends its processes and removes its files.
 * @throws Error with a message of one sentence when the cluster does not start
 */
export async function runCluster(options: RunClusterOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tickseal-cluster-'));
  const guard = new ProcessGuard(folder);
  try {
    const cluster = await prepareDemoCluster(join(folder, 'cluster'), options);
    await serveCluster(cluster, options, guard);
  } catch (error) {
    if (!options.stopSignal.aborted) throw error;
  } finally {
    await guard.close();
  }
}

async function serveCluster(
  cluster: DemoCluster,
  { dataDir, write, stopSignal }: RunClusterOptions,
  guard: ProcessGuard,
): Promise<void> {
  const { nodes, servers, publishersAt } = cluster;
  const children = new Map([...servers, ...nodes].map((program) => [program, launch(program)]));
  guard.guard([...children.values()]);
  const say = (text: string) => write(`${new Date().toISOString().slice(11, 19)}  ${text}`);
  const simulation = startSimulation({
    dataDir,
    urls: publishersAt.map(({ url }) => url.replace(/^http/, 'ws')),
    onExit: () => stopSignal.aborted || say('the simulated publishers have ended'),
  });
  try {
    const leader = await untilServing(cluster, children, stopSignal);
    write(renderClusterBanner({ ...cluster, leader, pidOf: (program) => children.get(program)?.pid }));
    for (const [program, child] of children)
      child.once('exit', (code, signal) => stopSignal.aborted || say(endText(program, signal ?? code)));
    await untilStopped(stopSignal);
  } finally {
    await simulation.stop();
    // The servers end last, because a node says to the other nodes that it ends.
    for (const programs of [nodes, servers])
      await Promise.all(programs.map((program) => endProcess(children.get(program)!)));
  }
}

/** Starts a program, which writes its log to a file. A signal of this process's terminal, such as that of Ctrl-C, does not reach it. */
function launch({ command: [file = '', ...args], logFile }: ClusterProgram): ChildProcess {
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(file, args, { stdio: ['ignore', log, log], detached: true });
  // A program that could not be started counts as ended.
  child.on('error', () => {});
  closeSync(log);
  return child;
}

/** Waits until all nodes run and prices arrive. @returns the number of the node that leads */
async function untilServing(
  { nodes, token }: DemoCluster,
  children: Children,
  signal: AbortSignal,
): Promise<number> {
  const endMs = performance.now() + START_MS_MAX;
  while (performance.now() < endMs) {
    const [ended] = [...children].find(([, child]) => hasEnded(child)) ?? [];
    if (ended !== undefined) throw new Error(`${ended.name} does not start: ${lastLine(ended)}`);
    const leader = await leaderWithPrices(nodes, token).catch(() => undefined);
    if (leader !== undefined) return leader;
    await wait(POLL_MS, undefined, { signal });
  }
  throw new Error(
    `no prices after ${START_MS_MAX / 1000} s; the log of node 1 ends with: ${lastLine(nodes[0]!)}`,
  );
}

/** Asks the last node for the leader. @returns `undefined` while a node, the leader or a price is missing */
async function leaderWithPrices(nodes: DemoCluster['nodes'], token: string): Promise<number | undefined> {
  const read = async (path: string) => {
    const url = nodes.at(-1)!.url + path;
    const headers = { Authorization: `Basic ${token}` };
    return (await boundedFetch({ url, headers, answerMsMax: ANSWER_MS_MAX })).wholeText();
  };
  const { data } = JSON.parse(await read(REST_PATHS.nodes));
  const hasPrice = (await read(`${REST_PATHS.latest}?assets=BTCUSD`)).includes('"BTCUSD":');
  if (data.nodes.length < nodes.length || !hasPrice) return undefined;
  return data.nodes.find(({ role }: { role: string }) => role === 'leader')?.node;
}

function lastLine({ logFile }: ClusterProgram): string {
  return readFileSync(logFile, 'utf8').trim().split('\n').at(-1) || 'it said nothing';
}

function endText({ name, command }: ClusterProgram, how: string | number | null): string {
  const words = command.map((word) =>
    /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`,
  );
  return `${name} has ended (${how}). To start it again, in another terminal, where Ctrl-C ends it:\n\n  ${words.join(' ')}\n`;
}

/**
 * The guard's script. Each line of input contains the IDs of all running processes. At the end of the input, the script kills these
 * processes. It waits a second before it removes the folder, because a killed process may still be writing.
 */
const GUARD =
  'while read -r line; do pids=$line; done; [ -z "$pids" ] || { kill -9 $pids; sleep 1; }; rm -rf -- "$1"';

/**
 * Shell that ends the processes of the demo and removes their folder when the demo ends, even after `kill -9` of the demo: then the
 * shell's input closes.
 */
class ProcessGuard {
  readonly #shell;

  constructor(folder: string) {
    const args = ['-c', GUARD, 'guard', folder];
    this.#shell = spawn('/bin/sh', args, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    this.#shell.stdin.on('error', () => {});
  }

  /** Guards each process until it ends. The system may give its ID to another process afterwards. */
  guard(processes: readonly ChildProcess[]): void {
    const tell = () => {
      const pids = processes.filter((child) => !hasEnded(child)).map(({ pid }) => pid);
      if (this.#shell.stdin.writable) this.#shell.stdin.write(`${pids.join(' ')}\n`);
    };
    for (const child of processes) child.once('exit', tell);
    tell();
  }

  async close(): Promise<void> {
    this.#shell.stdin.end();
    if (!hasEnded(this.#shell)) await once(this.#shell, 'exit');
  }
}
