import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A server under load: the service, or a peer. */
export interface ServerProcess {
  readonly pid: number;
  readonly port: number;
  /** The port of the admin listener, for the service only. */
  readonly adminPort: number | undefined;
  /** Resolves when the process has ended. */
  readonly ended: Promise<ProcessEnd>;
  /** Returns the CPU time of all its threads so far, in seconds. Linux only. */
  cpuSeconds(): number;
  /** Returns the time for which its threads were ready to run and had no core, in seconds. Linux only. */
  waitSeconds(): number;
  /** Returns its anonymous memory in bytes, without mapped files. Linux only. */
  anonymousBytes(): number;
  signal(name: NodeJS.Signals): void;
  /** Sends a question to the module with which the server was started; see {@link StartOptions.probed}. */
  ask(question: string): Promise<unknown>;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<void>;
}

/** The exit code and the signal; one of the two is `null`. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface StartOptions {
  /** `NODE_OPTIONS` of all its threads. */
  readonly nodeOptions?: string;
  /** More variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** A command that takes the server's command as arguments and replaces itself with it (`exec`). */
  readonly wrapper?: readonly string[];
  /** Drops its standard error, and hides its warnings. */
  readonly isQuiet?: boolean;
  /** True when `nodeOptions` load a module that answers messages of this process. */
  readonly probed?: boolean;
}

/** Ends a server when this process ends. */
const END_WITH_PARENT = `--import ${new URL('./end_with_parent.js', import.meta.url).href}`;

/** The environment variable with Node's options for the service, for example to make a profile. */
export const SERVICE_NODE_OPTIONS = 'BENCH_SERVICE_NODE_OPTIONS';

/** Starts `tickseal serve --config` with a configuration file. */
export function startService(configFile: string, start: StartOptions = {}): Promise<ServerProcess> {
  const file = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
  const options = process.env[SERVICE_NODE_OPTIONS]?.split(' ') ?? [];
  return startServer([...options, file], ['serve', '--config', configFile], start);
}

/**
 * Starts a Node program that prints a line of JSON with its port when it is ready.
 * @param program options for Node and the file
 */
export async function startServer(
  program: readonly string[],
  args: readonly string[],
  start: StartOptions = {},
): Promise<ServerProcess> {
  const { nodeOptions = '', env = {}, wrapper = [], isQuiet = false, probed = false } = start;
  const [command, ...rest] = [...wrapper, process.execPath, ...program, ...args];
  const child = spawn(command!, rest, {
    stdio: ['ignore', 'pipe', isQuiet ? 'ignore' : 'inherit', 'pipe', ...(probed ? (['ipc'] as const) : [])],
    env: {
      ...process.env,
      ...env,
      NODE_OPTIONS: `${END_WITH_PARENT} ${nodeOptions}`,
      TICKSEAL_LOG_LEVEL: 'info',
    },
  });
  const ready = await new Promise<{ port: number; adminPort?: number }>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const said = JSON.parse(line) as { port?: number; adminPort?: number; level?: number };
      if (said.port !== undefined) resolve({ ...said, port: said.port });
      else if (!isQuiet && (said.level ?? 0) >= LOG_LEVEL_WARN) process.stderr.write(`${line}\n`);
    });
    child.once('exit', () => reject(new Error(`${program.at(-1)} ended before it was ready`)));
  });
  return serverOf(child, ready.port, ready.adminPort);
}

/**
 * Starts a program of another kind, which prints a line of JSON with its port when it is ready; or one whose port is known, which
 * then may not be ready yet. The kernel ends it with this process. Linux only.
 */
export async function startProgram(command: readonly string[], knownPort?: number): Promise<ServerProcess> {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port =
    knownPort ??
    (await new Promise<number>((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', (line) =>
        resolve((JSON.parse(line) as { port: number }).port),
      );
      child.once('exit', () => reject(new Error(`${command[0]} ended before it was ready`)));
      child.once('error', reject);
    }));
  return serverOf(child, port);
}

function serverOf(child: ChildProcess, port: number, adminPort?: number): ServerProcess {
  const pid = child.pid!;
  const ended = once(child, 'exit').then(([code, signal]): ProcessEnd => ({ code, signal }));
  return {
    pid,
    port,
    adminPort,
    ended,
    cpuSeconds: () => cpuSecondsOf(pid),
    waitSeconds: () => schedulerSecondsOf(pid, SCHEDSTAT_WAIT),
    anonymousBytes: () => anonymousBytesOf(pid),
    signal: (name) => child.kill(name),
    async ask(question) {
      const answer = once(child, 'message');
      child.send(question);
      return (await answer)[0];
    },
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Returns the CPU time of all threads of a process so far. Linux only. */
export function cpuSecondsOf(pid: number): number {
  return schedulerSecondsOf(pid, SCHEDSTAT_CPU);
}

const LOG_LEVEL_WARN = 40;

/** The fields of a thread's `schedstat`. */
const SCHEDSTAT_CPU = 0;
const SCHEDSTAT_WAIT = 1;

/** Reads seconds from `schedstat`, which counts nanoseconds; `/proc/PID/stat` counts in steps of 10 ms. */
function schedulerSecondsOf(pid: number, place: number): number {
  let ns = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`))
    ns += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[place]);
  return ns / 1e9;
}

function anonymousBytesOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/RssAnon:\s+(\d+) kB/.exec(status)![1]) * 1024;
}
