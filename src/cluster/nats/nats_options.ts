export interface NatsOptions {
  /** The word in subjects and streams of a cluster, so that several can share servers. */
  readonly name: string;
  readonly role: 'aggregator' | 'edge';
  /** `nats://host:port` or `tls://host:port`; the first is preferred, and after a loss the next is used. */
  readonly servers: readonly string[];
  /** A credentials file's text, an NKey seed, or `user:password`. */
  readonly credentials?: string;
  /** Files, which are read again at each connection. */
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
  /** How many servers keep each record. */
  readonly replicas: 1 | 3 | 5;
  /** How long candles stay on the shelf. */
  readonly candleRetentionMs: number;
  /** How long records stay in the log. */
  readonly logRetentionMs: number;
  /** How long servers may take to answer at the start. */
  readonly startMsMax?: number;
  /** What an operator should know, in a sentence: a connection lost, a server refused. */
  readonly onNotice: (text: string) => void;
}

/** How the streams and subjects of a cluster are called. */
export class Names {
  readonly logStream: string;
  readonly candleStream: string;
  readonly #root: string;

  constructor(name: string) {
    this.#root = `ts.${name}`;
    this.logStream = `TS_${name.toUpperCase()}_LOG`;
    this.candleStream = `TS_${name.toUpperCase()}_CANDLES`;
  }

  /** Where a record is appended. */
  record(id: string): string {
    return `${this.#root}.log.${id}`;
  }

  /** Where the servers publish a record again when it is committed. */
  live(id: string): string {
    return `${this.#root}.live.${id}`;
  }

  topic(topic: string): string {
    return `${this.#root}.${topic}`;
  }

  candles(key: readonly string[]): string {
    return [this.#root, 'candles', ...key].join('.');
  }
}

/** What may stand between the dots of a subject. */
export const SUBJECT_WORD = /^[A-Za-z0-9_-]{1,128}$/;
