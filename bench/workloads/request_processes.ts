import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface RequestProcesses {
  readonly ports: readonly number[];
  readonly path: string;
  readonly processes: number;
  /** The number of connections of each process. The connections are distributed among the ports. */
  readonly connections: number;
  readonly durationMs: number;
}

/**
 * Sends requests like `requestFor`, from several processes, because one client process cannot use two threads fully.
 * @returns the number of answers
 */
export async function requestFromProcesses(options: RequestProcesses): Promise<number> {
  const { ports, path, processes, connections, durationMs } = options;
  const args = [ports.join(), path, String(connections), String(durationMs)];
  const counts = await Promise.all(Array.from({ length: processes }, () => countOf(args)));
  return counts.reduce((sum, count) => sum + count, 0);
}

function countOf(args: readonly string[]): Promise<number> {
  const child = fork(fileURLToPath(new URL('./requests_main.js', import.meta.url)), args);
  return new Promise((resolve, reject) => {
    child.once('message', (count) => resolve(count as number));
    child.once('error', reject);
    // The message of the process may arrive after the end of the process, so only `close` counts as the end.
    child.once('close', (code) => reject(new Error(`a client ended with ${code} before it had its answers`)));
  });
}
