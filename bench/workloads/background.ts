import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Of assets 1, 2, …, by publisher 1. */
export const UPDATES_PER_MESSAGE = 10;

export interface Background {
  readonly port: number;
  /** Of the WebSocket that takes its messages. */
  readonly path: string;
  /** Updates a second. */
  readonly rate: number;
  /** It ends after so many, if it was not ended before. */
  readonly seconds: number;
}

/** Lets another publisher, in a process of its own, send all the time. @returns how to end it, once it sends */
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
