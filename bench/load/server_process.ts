import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A server under load: the service, or a peer. */
export interface ServerProcess {
  readonly port: number;
  /** Of the service only. */
  readonly adminPort: number | undefined;
  /** CPU time of all its threads so far, in seconds. Linux only. */
  cpuSeconds(): number;
  /** Anonymous memory that it holds, in bytes; mapped files do not count. Linux only. */
  anonymousBytes(): number;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<void>;
}

/** Starts one of the peers in `bench/peers`. */
export function startPeer(name: string, ...args: string[]): Promise<ServerProcess> {
  return startServer(fileURLToPath(new URL(`../peers/${name}.js`, import.meta.url)), args, {});
}

/** Options for Node itself that the service is started with, as for a profile. */
export const SERVICE_NODE_OPTIONS = 'BENCH_SERVICE_NODE_OPTIONS';

/** Starts `tickseal serve --config` with a configuration file. */
export function startService(configFile: string, nodeOptions = ''): Promise<ServerProcess> {
  const file = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
  const options = `${nodeOptions} ${process.env[SERVICE_NODE_OPTIONS] ?? ''}`.trim();
  return startServer(file, ['serve', '--config', configFile], { NODE_OPTIONS: options });
}

/** Waits for the line of JSON that says the port. The server does not outlive this process. */
async function startServer(
  file: string,
  args: string[],
  env: Record<string, string>,
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env, TICKSEAL_LOG_LEVEL: 'info' },
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      process.removeListener('exit', kill);
      resolve();
    });
  });
  const ready = await new Promise<{ port: number; adminPort?: number }>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const said = JSON.parse(line) as { port?: number; adminPort?: number; level?: number };
      if (said.port !== undefined) resolve({ ...said, port: said.port });
      else if ((said.level ?? 0) >= LOG_LEVEL_WARN) process.stderr.write(`${line}\n`);
    });
    ended.then(() => reject(new Error(`${file} ended before it was ready`)));
  });
  const pid = child.pid!;
  return {
    port: ready.port,
    adminPort: ready.adminPort,
    cpuSeconds: () => cpuSecondsOf(pid),
    anonymousBytes: () => anonymousBytesOf(pid),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

const LOG_LEVEL_WARN = 40;

/** The scheduler counts nanoseconds per thread, where `/proc/PID/stat` counts in steps of 10 ms. */
function cpuSecondsOf(pid: number): number {
  let ns = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const schedstat = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8');
    ns += Number(schedstat.slice(0, schedstat.indexOf(' ')));
  }
  return ns / 1e9;
}

function anonymousBytesOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/RssAnon:\s+(\d+) kB/.exec(status)![1]) * 1024;
}
