import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A server under load: the service or a peer. */
export interface ServerProcess {
  readonly pid: number;
  readonly port: number;
  /** The port of the admin listener. Only the service has this port. */
  readonly adminPort: number | undefined;
  /** Resolves when the process has ended. */
  readonly ended: Promise<ProcessEnd>;
  /** Returns the CPU time that all threads of the process have used, in seconds. Linux only. */
  cpuSeconds(): number;
  /** Returns the time, in seconds, for which threads of the process were ready to run but had no core. Linux only. */
  waitSeconds(): number;
  /** Returns the anonymous memory of the process in bytes, without mapped files. Linux only. */
  anonymousBytes(): number;
  signal(name: NodeJS.Signals): void;
  /** Sends a request to the module that Node loaded into the server; see {@link StartOptions.probed}. */
  ask(question: string): Promise<unknown>;
  /** Sends SIGTERM and waits until the process has ended. */
  stop(): Promise<void>;
}

/** The exit code and the signal. Exactly one of the two is `null`. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface StartOptions {
  /** The `NODE_OPTIONS` of all threads of the server. */
  readonly nodeOptions?: string;
  /** Additional arguments of the server. */
  readonly args?: readonly string[];
  /** A command that gets the server's command as its arguments, and replaces itself with that command (`exec`). */
  readonly wrapper?: readonly string[];
  /** True to drop the server's standard error and to hide its warnings. */
  readonly isQuiet?: boolean;
  /** True when `nodeOptions` loads a module that answers messages of this process. */
  readonly probed?: boolean;
}

/** The option that ends a server when this process ends. */
const END_WITH_PARENT = `--import ${new URL('./end_with_parent.js', import.meta.url).href}`;

/** The environment variable with additional Node options for the service, for example to make a profile. */
export const SERVICE_NODE_OPTIONS = 'BENCH_SERVICE_NODE_OPTIONS';

/** Starts `tickseal serve --config` with a configuration file. */
export function startService(configFile: string, start: StartOptions = {}): Promise<ServerProcess> {
  const file = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
  const options = process.env[SERVICE_NODE_OPTIONS]?.split(' ') ?? [];
  return startServer([...options, file], ['serve', '--config', configFile, ...(start.args ?? [])], start);
}

/**
 * Starts a Node program that prints a line of JSON with its port when it is ready.
 * @param program the options for Node, and the file
 */
export async function startServer(
  program: readonly string[],
  args: readonly string[],
  start: StartOptions = {},
): Promise<ServerProcess> {
  const { nodeOptions = '', wrapper = [], isQuiet = false, probed = false } = start;
  const [command, ...rest] = [...wrapper, process.execPath, ...program, ...args];
  const child = spawn(command!, rest, {
    stdio: ['ignore', 'pipe', isQuiet ? 'ignore' : 'inherit', 'pipe', ...(probed ? (['ipc'] as const) : [])],
    env: {
      ...process.env,
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

/** Returns the CPU time that all threads of a process have used. Linux only. */
export function cpuSecondsOf(pid: number): number {
  return schedulerSecondsOf(pid, SCHEDSTAT_CPU);
}

const LOG_LEVEL_WARN = 40;

/** The indexes of the fields in a thread's `schedstat`. */
const SCHEDSTAT_CPU = 0;
const SCHEDSTAT_WAIT = 1;

/**
 * Reads seconds from `schedstat`, which counts in nanoseconds. The function does not use `/proc/PID/stat`, because that file counts in
 * steps of 10 ms.
 */
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
