import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The number of updates in a message. The updates are by publisher 1, for the assets 1, 2 and so on. */
export const UPDATES_PER_MESSAGE = 10;

export interface Background {
  readonly port: number;
  /** The path of the WebSocket that receives the messages. */
  readonly path: string;
  /** The number of updates a second. */
  readonly rate: number;
  /** The time limit of the background load. The caller may stop the load earlier. */
  readonly seconds: number;
}

/**
 * Starts another publisher in a separate process, which sends without a pause. Resolves when the publisher has begun to send.
 * @returns a function that ends the publisher
 */
export async function startBackground(load: Background): Promise<() => Promise<void>> {
  const args = [load.port, load.path, load.rate, load.seconds].map(String);
  const child = fork(fileURLToPath(new URL('./background_main.js', import.meta.url)), args);
  const ended = once(child, 'exit');
  await Promise.race([
    once(child, 'message'),
    ended.then(() => Promise.reject(new Error('the other publisher has ended before it began'))),
  ]);
  return async () => {
    child.disconnect();
    await ended;
  };
}
