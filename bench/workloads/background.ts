import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The updates of a message: of assets 1, 2, …, by publisher 1. */
export const UPDATES_PER_MESSAGE = 10;

export interface Background {
  readonly port: number;
  /** The path of the WebSocket that takes the messages. */
  readonly path: string;
  /** The number of updates a second. */
  readonly rate: number;
  /** The time after which the background ends, if it was not ended before. */
  readonly seconds: number;
}

/** Lets another publisher, in a process of its own, send all the time. @returns a function that ends it, once it sends */
export async function startBackground({
  port,
  path,
  rate,
  seconds,
}: Background): Promise<() => Promise<void>> {
  const args = [String(port), path, String(rate), String(seconds)];
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
