import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ORACLE_ID, TOKEN } from '../../scripts/load/config.js';
import { publisherKeys } from '../../scripts/load/keys.js';
import { cpuSecondsOf } from '../../scripts/load/server_process.js';
import { eventually } from '../../scripts/load/wait.js';
import { PROGRAM } from './commands.js';

/** The processes of `tickseal publish --from`: its own, and that of `tickseal sources`. */
export interface MarketProcesses {
  /** Returns the CPU time of both processes, in seconds. */
  cpuSeconds(): number;
  /** Returns the resident memory of the process that reads the markets, in bytes. */
  residentBytes(): number;
  stop(): Promise<void>;
}

/** Starts `tickseal publish --from` as publisher 0 of a load run. @param sources the text of the file of sources */
export async function startPublishFrom(sources: string, port: number): Promise<MarketProcesses> {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-bench-'));
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, 'sources.yaml');
  writeFileSync(file, sources);
  const args = ['publish', '--from', file, '--url', `ws://127.0.0.1:${port}`, '--oracle-id', ORACLE_ID];
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      TICKSEAL_KEY: publisherKeys('evm', 0).secretKey.toString('hex'),
      TICKSEAL_TOKEN: TOKEN,
    },
  });
  child.stdout.resume();
  const ended = once(child, 'exit');
  const pid = child.pid!;
  const reading = await eventually(() => startedBy(pid), { what: 'the process of sources' });
  return {
    cpuSeconds: () => cpuSecondsOf(reading) + cpuSecondsOf(pid),
    residentBytes: () =>
      Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${reading}/status`, 'utf8'))![1]) * 1024,
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
