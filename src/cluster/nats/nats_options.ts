export interface NatsOptions {
  /** The word for the cluster in subjects and streams. Different words let several clusters share servers. */
  readonly name: string;
  readonly role: 'aggregator' | 'edge';
  /**
   * `nats://host:port` or `tls://host:port`. The client prefers the first server, and uses the next server
   * after a loss.
   */
  readonly servers: readonly string[];
  /** A credentials file's text, an NKey seed, or `user:password`. */
  readonly credentials?: string;
  /** The files for TLS. Each connection reads these files again. */
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
  /** The number of servers that keep each record. */
  readonly replicas: 1 | 3 | 5;
  /** The time for which candles stay in the cluster's streams. */
  readonly candleRetentionMs: number;
  /** The time for which records stay in the log. */
  readonly logRetentionMs: number;
  /** The time within which a server must answer at the start. */
  readonly startMsMax?: number;
  /** Called with a sentence for the operator when a connection was lost or a server refused a request. */
  readonly onNotice: (text: string) => void;
}

/** The names of the streams and subjects of a cluster. */
export class Names {
  readonly logStream: string;
  readonly candleStream: string;
  readonly #root: string;

  constructor(name: string) {
    this.#root = `ts.${name}`;
    this.logStream = `TS_${name.toUpperCase()}_LOG`;
    this.candleStream = `TS_${name.toUpperCase()}_CANDLES`;
  }

  /** Returns the subject on which a record is appended. */
  record(id: string): string {
    return `${this.#root}.log.${id}`;
  }

  /** Returns the subject on which the servers publish a record again after its commit. */
  live(id: string): string {
    return `${this.#root}.live.${id}`;
  }

  topic(topic: string): string {
    return `${this.#root}.${topic}`;
  }

  /** Returns the topic of a subject that {@link topic} returned. */
  topicOf(subject: string): string {
    return subject.slice(this.#root.length + 1);
  }

  candles(key: readonly string[]): string {
    return [this.#root, 'candles', ...key].join('.');
  }
}

/** The form of a word between the dots of a subject. */
export const SUBJECT_WORD = /^[A-Za-z0-9_-]{1,128}$/;
