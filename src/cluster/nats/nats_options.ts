export interface NatsOptions {
  /** The cluster's name in subjects and streams. Clusters with different names can share servers. */
  readonly name: string;
  readonly role: 'aggregator' | 'edge';
  /**
   * `nats://host:port` or `tls://host:port`. The client prefers the first server, and tries the next server after the loss of a
   * connection.
   */
  readonly servers: readonly string[];
  /** The text of a credentials file, an NKey seed, or `user:password`. */
  readonly credentials?: string;
  /** The TLS files. Each new connection reads these files again. */
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
  /** The number of servers that keep each record. */
  readonly replicas: 1 | 3 | 5;
  /** The time for which candles stay in the cluster's streams. */
  readonly candleRetentionMs: number;
  /** The time for which records stay in the log. */
  readonly logRetentionMs: number;
  /** The time limit for a server's answer at start-up. */
  readonly startMsMax?: number;
  /** Called with a sentence for the operator when the connection is lost or a server refuses a request. */
  readonly onNotice: (text: string) => void;
}

/**
 * The request that a NATS server expects among an account's imports. Without this import, the server itself answers all JetStream requests
 * of the account with an error. No user of the account may send this request.
 */
export const JETSTREAM_INFO = '$JS.API.INFO';

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

  /** Returns the subject to which a record is appended. */
  record(id: string): string {
    return `${this.#root}.log.${id}`;
  }

  /** Returns the subject on which the servers republish a record after its commit. */
  live(id: string): string {
    return `${this.#root}.live.${id}`;
  }

  topic(topic: string): string {
    return `${this.#root}.${topic}`;
  }

  /** Returns the topic of a subject that {@link topic} made. */
  topicOf(subject: string): string {
    return subject.slice(this.#root.length + 1);
  }

  candles(key: readonly string[]): string {
    return [this.#root, 'candles', ...key].join('.');
  }
}

/** The form of a word between the dots of a subject. */
export const SUBJECT_WORD = /^[A-Za-z0-9_-]{1,128}$/;
