import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface RequestProcesses {
  readonly port: number;
  readonly path: string;
  readonly processes: number;
  /** The number of connections of each process. */
  readonly connections: number;
  readonly durationMs: number;
}

/**
 * Sends requests like `requestFor`, from several processes, because one client process cannot use two threads fully.
 * @returns the number of answers
 */
export async function requestFromProcesses(options: RequestProcesses): Promise<number> {
  const { port, path, processes, connections, durationMs } = options;
  const args = [port, path, connections, durationMs].map(String);
  const counts = Array.from({ length: processes }, async () => {
    const child = fork(fileURLToPath(new URL('./requests_main.js', import.meta.url)), args);
    const [count] = (await Promise.race([
      once(child, 'message'),
      // The message of the process may arrive after the end of the process, so only `close` counts as the end.
      once(child, 'close').then(([code]) =>
        Promise.reject(new Error(`a client ended with ${code} before it had its answers`)),
      ),
    ])) as [number];
    return count;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}
