import type { Bus, LogExtent, LogPosition, LogRecord } from '../../../src/cluster/bus.js';
import type { Agenda } from './agenda.js';
import { type Client, type MessageServers, SERVERS } from './message_servers.js';

const REQUEST_MS_MAX = 300;
const APPEND_MS_MAX = 500;

export interface BusOptions {
  readonly agenda: Agenda;
  readonly servers: MessageServers;
  /** Returns the buses of all nodes, even of dead nodes. */
  readonly others: () => Iterable<SimulatedBus>;
  /** Runs a function on the node. On a paused node the function runs later; on a dead node it never runs. */
  readonly onNode: (run: () => void) => void;
  /** Returns true while the node cannot reach its server. */
  readonly isCut: () => boolean;
}

type Topics<T> = Map<string, Set<T>>;
type Listener = (bytes: Uint8Array, topic: string) => void;
type Handler = (bytes: Uint8Array, topic: string) => Promise<Uint8Array>;

/** The simulated servers, from the view of a node's process. */
export class SimulatedBus implements Bus {
  readonly #options: BusOptions;
  readonly #client: Client;
  readonly #committed = new Set<(record: LogRecord) => void>();
  readonly #listeners: Topics<Listener> = new Map();
  readonly #handlers: Topics<Handler> = new Map();
  readonly waitingBytes = 0;
  readonly refusedMessages = 0;

  constructor(options: BusOptions, server: number) {
    this.#options = options;
    this.#client = {
      server,
      live: (record) => {
        if (options.isCut()) return;
        for (const listener of this.#committed) options.onNode(() => listener(record));
      },
    };
    options.servers.clients.add(this.#client);
  }

  append(after: LogPosition, id: string, bytes: Uint8Array): Promise<number> {
    const { servers } = this.#options;
    return this.#request(APPEND_MS_MAX, (answer, refuse) => {
      servers.append(this.#client.server, after, id, bytes, (result) => {
        if (typeof result === 'number') answer(result);
        else refuse(result);
      });
    });
  }

  extent(): Promise<LogExtent> {
    const { servers } = this.#options;
    return this.#request(REQUEST_MS_MAX, (answer) => answer(servers.extent(this.#client.server)));
  }

  read(afterSequence: number): Promise<readonly LogRecord[]> {
    const { servers } = this.#options;
    return this.#request(REQUEST_MS_MAX, (answer, refuse) => {
      const result = servers.read(this.#client.server, afterSequence);
      if (result instanceof Error) refuse(result);
      else answer(result);
    });
  }

  onCommitted(listener: (record: LogRecord) => void): () => void {
    this.#committed.add(listener);
    return () => this.#committed.delete(listener);
  }

  send(topic: string, bytes: Uint8Array): void {
    const { servers, others } = this.#options;
    for (const other of others()) {
      if (itemsOf(other.#listeners, topic).length === 0) continue;
      for (let copies = servers.copies(); copies > 0; copies--)
        this.#deliver(other, () => other.#receive(topic, bytes));
    }
  }

  listen(topic: string, listener: Listener): () => void {
    return add(this.#listeners, topic, listener);
  }

  ask(topic: string, bytes: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    return this.#request(timeoutMs, (answer) => {
      for (const other of this.#options.others())
        for (const handler of itemsOf(other.#handlers, topic))
          this.#deliver(other, () => {
            handler(bytes, topic).then(
              (reply) => other.#deliver(this, () => answer(reply)),
              () => {},
            );
          });
    });
  }

  answer(topic: string, handler: Handler): () => void {
    return add(this.#handlers, topic, handler);
  }

  reconnect(): void {
    this.#client.server = (this.#client.server + 1) % SERVERS;
  }

  /** Ends the bus, because the process is dead. */
  end(): void {
    this.#options.servers.clients.delete(this.#client);
    this.#committed.clear();
    this.#listeners.clear();
    this.#handlers.clear();
  }

  close(): Promise<void> {
    this.end();
    return Promise.resolve();
  }

  #receive(topic: string, bytes: Uint8Array): void {
    for (const listener of itemsOf(this.#listeners, topic)) listener(bytes, topic);
  }

  /** Delivers a message to another node, or loses it. */
  #deliver(other: SimulatedBus, run: () => void): void {
    const { agenda, servers, isCut } = this.#options;
    const delayMs = isCut() ? undefined : servers.delayMs();
    if (delayMs === undefined || !servers.reach(this.#client, other.#client)) return;
    agenda.after(delayMs, () => {
      if (!other.#options.isCut()) other.#options.onNode(run);
    });
  }

  /** Sends a request to the server and the answer back. The request and the answer may both be lost. */
  #request<T>(
    timeoutMs: number,
    serve: (answer: (result: T) => void, refuse: (error: Error) => void) => void,
  ): Promise<T> {
    const { agenda, servers, onNode, isCut } = this.#options;
    return new Promise((resolve, reject) => {
      let isSettled = false;
      const back = (run: () => void) => {
        const delayMs = servers.delayMs();
        if (delayMs !== undefined)
          agenda.after(delayMs, () => {
            if (isCut()) return;
            isSettled = true;
            onNode(run);
          });
      };
      const delayMs = servers.delayMs();
      if (delayMs !== undefined && !isCut())
        agenda.after(delayMs, () =>
          serve(
            (result) => back(() => resolve(result)),
            (error) => back(() => reject(error)),
          ),
        );
      agenda.after(timeoutMs, () => {
        if (!isSettled) onNode(() => reject(new Error('no answer')));
      });
    });
  }
}

/** A cache of the words of each topic. */
const WORDS = new Map<string, readonly string[]>();

function wordsOf(topic: string): readonly string[] {
  let words = WORDS.get(topic);
  if (words === undefined) {
    words = topic.split('.');
    WORDS.set(topic, words);
  }
  return words;
}

/** Returns the items of all topics that match a message's topic. */
function itemsOf<T>(topics: Topics<T>, topic: string): T[] {
  const words = wordsOf(topic);
  const found: T[] = [];
  for (const [pattern, items] of topics) {
    const wanted = wordsOf(pattern);
    if (wanted.length === words.length && wanted.every((word, i) => word === '*' || word === words[i]))
      found.push(...items);
  }
  return found;
}

function add<T>(topics: Topics<T>, topic: string, item: T): () => void {
  const items = topics.get(topic) ?? new Set();
  topics.set(topic, items);
  items.add(item);
  return () => {
    items.delete(item);
    if (items.size === 0) topics.delete(topic);
  };
}
