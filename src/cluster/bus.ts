/**
 * What the nodes of a cluster need of their message servers: one log that only the writer who knows its end can append to, and
 * messages that may be lost. The rest of this room is written against it, so that a simulated one can show every fault.
 */
export interface Bus {
  /**
   * Appends a record to the log, as the one after `after`, which it must be when the servers commit it. It settles within seconds.
   * @param after an empty `id` there is not compared
   * @param id of the record: printable ASCII without spaces. No two records have the same; one that may be lost is appended again with
   * the same bytes after the same record
   * @returns its sequence, when enough servers have it that none can lose it
   * @throws WrongEnd when the log's last record is another one: it was not appended
   * @throws Error when that is not known: it may be appended, now or later
   */
  append(after: LogPosition, id: string, bytes: Uint8Array): Promise<number>;
  /** What the log holds, as the server knows it that answers, which may lag. @throws Error when none answers */
  extent(): Promise<LogExtent>;
  /**
   * Records of the log in order, without gaps, from the first after the sequence on, until the end that the server knows that
   * answers, or until it has given many. @throws Error when none answers, or when the first of them has been deleted
   */
  read(afterSequence: number): Promise<readonly LogRecord[]>;
  /** Calls back for each record after it was committed. Records may be missing, come twice or late. @returns how to stop it */
  onCommitted(listener: (record: LogRecord) => void): () => void;
  /** Sends a message to whoever listens now; it may be lost. */
  send(topic: string, bytes: Uint8Array): void;
  /** @returns how to stop it */
  listen(topic: string, listener: (bytes: Uint8Array) => void): () => void;
  /** Asks the node that answers on the topic. @throws Error when there is none, or no answer in time: it may have been asked */
  ask(topic: string, bytes: Uint8Array, timeoutMs: number): Promise<Uint8Array>;
  /** Answers what is asked on the topic; a handler that rejects gives no answer. @returns how to stop it */
  answer(topic: string, handler: (bytes: Uint8Array) => Promise<Uint8Array>): () => void;
  /** Bytes that were sent and wait for the socket. */
  readonly waitingBytes: number;
  /** Goes to another server, because this one is silent. */
  reconnect(): void;
  close(): Promise<void>;
}

/** A record and its place; the beginning of the log is {@link LOG_START}. */
export interface LogPosition {
  readonly sequence: number;
  /** Empty where it is not known. */
  readonly id: string;
}

export interface LogExtent {
  /** The first record that was not deleted; one more than the last when there is none. */
  readonly firstSequence: number;
  readonly last: LogPosition;
}

export interface LogRecord extends LogPosition {
  readonly bytes: Uint8Array;
}

/** Before the first record. */
export const LOG_START: LogPosition = { sequence: 0, id: '' };

/** The log does not end where the writer thinks. */
export class WrongEnd extends Error {
  override readonly name = 'WrongEnd';
}
