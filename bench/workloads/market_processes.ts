import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ORACLE_ID, TOKEN } from '../../scripts/load/config.js';
import { publisherKeys } from '../../scripts/load/keys.js';
import { cpuSecondsOf } from '../../scripts/load/server_process.js';
import { eventually } from '../../scripts/load/wait.js';
import { commandNodeOptions } from './command_options.js';

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));

/** The processes of `tickseal sources`, alone or as a child of `tickseal publish --from`. */
export interface MarketProcesses {
  /** Returns the CPU time of all these processes, in seconds. */
  cpuSeconds(): number;
  /** Returns the resident memory of the process that reads the markets, in bytes. */
  residentBytes(): number;
  stop(): Promise<void>;
}

/** Writes a file of sources into a temporary folder, which this process removes at its exit. */
export function writeSources(text: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-bench-'));
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'sources.yaml');
  writeFileSync(file, text);
  return file;
}

/**
 * Starts `tickseal sources`. A process that records gets the Node options of the measured command.
 * @param recordTo the path of the recording; absent for no recording
 */
export async function startSources(file: string, recordTo?: string): Promise<MarketProcesses> {
  const options = recordTo === undefined ? [] : commandNodeOptions();
  const args = recordTo === undefined ? [] : ['--record', recordTo];
  const child = spawn(process.execPath, [...options, MAIN, 'sources', file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.resume();
  return processesOf(child, [child.pid!]);
}

/** Starts `tickseal publish --from` as publisher 0 of a load run. */
export async function startPublishFrom(file: string, port: number): Promise<MarketProcesses> {
  const args = ['publish', '--from', file, '--url', `ws://127.0.0.1:${port}`, '--oracle-id', ORACLE_ID];
  const child = spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      TICKSEAL_KEY: publisherKeys('evm', 0).secretKey.toString('hex'),
      TICKSEAL_TOKEN: TOKEN,
    },
  });
  child.stdout.resume();
  const started = await eventually(() => startedBy(child.pid!), { what: 'the process of sources' });
  return processesOf(child, [started, child.pid!]);
}

function processesOf(child: ChildProcess, pids: readonly [number, ...number[]]): MarketProcesses {
  const ended = once(child, 'exit');
  return {
    cpuSeconds: () => pids.reduce((seconds, pid) => seconds + cpuSecondsOf(pid), 0),
    residentBytes: () =>
      Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pids[0]}/status`, 'utf8'))![1]) * 1024,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Returns the process that another process has started. Linux only. */
function startedBy(pid: number): number | undefined {
  const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return first ? Number(first) : undefined;
}
