import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sum } from '../load/statistics.js';

const MAIN = fileURLToPath(new URL('./client_main.js', import.meta.url));

/** The connections of some client processes. */
export interface ClientLoad {
  /** The ports of the servers. Each process connects to one of them. */
  readonly ports: readonly number[];
  readonly kind: 'readers' | 'requests';
  /** The query of `/ws`, or the path of the requests. */
  readonly asked: string;
  readonly processes: number;
  /** The number of connections of all processes together. */
  readonly connections: number;
}

/** Client processes, because one process cannot use several serving threads. */
export class Clients {
  readonly #children: readonly ChildProcess[];

  private constructor(children: readonly ChildProcess[]) {
    this.#children = children;
  }

  /** Resolves when all readers have subscribed. */
  static async open({ ports, kind, asked, processes, connections }: ClientLoad): Promise<Clients> {
    const children = Array.from({ length: processes }, (_, i) => {
      const own = Math.floor((connections + i) / processes);
      return fork(MAIN, [String(ports[i % ports.length]), kind, asked, String(own)]);
    });
    const clients = new Clients(children);
    await Promise.all(children.map(nextMessage));
    return clients;
  }

  /**
   * Returns the sum of the answers of the processes: the frames since the start, or the answers to requests during a time.
   * @throws Error when a process has ended
   */
  async ask(ms = 0): Promise<number> {
    const answers = this.#children.map(nextMessage);
    for (const child of this.#children) child.send(ms);
    return sum((await Promise.all(answers)) as number[]);
  }

  async close(): Promise<void> {
    const ends = this.#children.map((child) => once(child, 'exit'));
    for (const child of this.#children) child.disconnect();
    await Promise.all(ends);
  }
}

async function nextMessage(child: ChildProcess): Promise<unknown> {
  const [message] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) =>
      Promise.reject(new Error(`a client ended with ${code} before it answered`)),
    ),
  ]);
  return message;
}
