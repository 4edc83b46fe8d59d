import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import type { Bus, LogExtent, LogPosition, LogRecord } from '../bus.js';
import type { LogServers, ServerReport } from '../log/log_servers.js';
import type { SharedCandles } from '../log/shared_candles.js';
import { NatsCandles } from './nats_candles.js';
import { BusConnection } from './nats_connection.js';
import { Log } from './nats_log.js';
import { Names, type NatsOptions } from './nats_options.js';
import { reportServers } from './nats_report.js';
import { prepareStreams } from './nats_streams.js';

const START_MS_MAX = 30_000;
const API_MS_MAX = 2_000;
/** The largest number of waiting requests of one subject. The nodes do not share this limit, because a publisher's message has a subject for each node. */
const ANSWERS_MAX = 10_000;
/**
 * The subjects to which an answer may go: the inbox of a client, or the subject by which a NATS server carries an answer into another
 * account. A server does not check the reply subject of a request. Without this limit, an attacker could make a node write its answer into
 * the log with the node's own rights.
 */
const REPLY_SUBJECT = /^_(?:INBOX|R_)\./;

/**
 * Connects and prepares the streams.
 * @throws Error whose message is one sentence
 */
export async function openNatsBus(options: NatsOptions): Promise<NatsBus> {
  const endMs = performance.now() + (options.startMsMax ?? START_MS_MAX);
  const connection = await BusConnection.open(options, endMs);
  try {
    const manager = await jetstreamManager(connection.client, { checkAPI: false, timeout: API_MS_MAX });
    await prepareStreams(manager, options, endMs);
    return new NatsBus(connection, manager, options);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** A bus over NATS servers. The log is a JetStream stream. Messages that may be lost are plain NATS messages. */
export class NatsBus implements Bus, LogServers {
  readonly candles: SharedCandles;
  readonly #connection: BusConnection;
  readonly #manager: JetStreamManager;
  readonly #names: Names;
  readonly #role: NatsOptions['role'];
  readonly #log: Log;
  #refusedRequests = 0;

  constructor(connection: BusConnection, manager: JetStreamManager, { name, role }: NatsOptions) {
    const names = new Names(name);
    this.#role = role;
    this.#connection = connection;
    this.#manager = manager;
    this.#names = names;
    this.#log = new Log(connection, manager, names);
    this.candles = new NatsCandles(connection, names);
  }

  /** The name of the connected server; `undefined` while there is no connection. */
  get server(): string | undefined {
    return this.#connection.server;
  }

  get serverProblem(): string | undefined {
    return this.#connection.problem;
  }

  get waitingBytes(): number {
    return this.#connection.waitingBytes;
  }

  append(after: LogPosition, id: string, bytes: Uint8Array): Promise<number> {
    return this.#log.append(after, id, bytes);
  }

  extent(): Promise<LogExtent> {
    return this.#log.extent();
  }

  read(afterSequence: number): Promise<readonly LogRecord[]> {
    return this.#log.read(afterSequence);
  }

  onCommitted(listener: (record: LogRecord) => void): () => void {
    return this.#log.onCommitted(listener);
  }

  send(topic: string, bytes: Uint8Array): void {
    this.#connection.publish(this.#names.topic(topic), bytes);
  }

  listen(topic: string, listener: (bytes: Uint8Array, topic: string) => void): () => void {
    return this.#connection.subscribe(this.#names.topic(topic), ({ data, subject }) =>
      listener(data, this.#names.topicOf(subject)),
    );
  }

  async ask(topic: string, bytes: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    return (await this.#connection.request(this.#names.topic(topic), bytes, timeoutMs)).data;
  }

  get refusedMessages(): number {
    return this.#refusedRequests + this.#connection.refusedRecords;
  }

  answer(topic: string, handler: (bytes: Uint8Array, topic: string) => Promise<Uint8Array>): () => void {
    const waiting = new Map<string, number>();
    return this.#connection.subscribe(this.#names.topic(topic), ({ data, reply, subject }) => {
      if (reply === undefined || !REPLY_SUBJECT.test(reply)) {
        this.#refusedRequests += 1;
        return;
      }
      // The request is dropped. The requester repeats requests that receive no answer.
      const count = waiting.get(subject) ?? 0;
      if (count >= ANSWERS_MAX) return;
      waiting.set(subject, count + 1);
      handler(data, this.#names.topicOf(subject))
        .then((bytes) => this.#connection.publish(reply, bytes))
        .catch(() => {})
        .finally(() => {
          const left = waiting.get(subject)! - 1;
          if (left > 0) waiting.set(subject, left);
          else waiting.delete(subject);
        });
    });
  }

  serverReport(nowMs: () => number, asksDisks: boolean): Promise<ServerReport> {
    const names = this.#names;
    return reportServers(this.#connection, this.#manager, { names, role: this.#role, nowMs, asksDisks });
  }

  reconnect(): void {
    this.#connection.reconnect();
  }

  close(): Promise<void> {
    return this.#connection.close();
  }
}
