/**
 * The interface of a cluster's nodes to its message servers. A bus has one log. Only a writer that knows the log's end can append to
 * the log. A bus also carries messages that may be lost. The rest of this room uses only this interface, so that tests can use a
 * simulated bus with any fault.
 */
export interface Bus {
  /**
   * Appends a record to the log directly after `after`, which must be the log's end when the servers commit the record. Settles
   * within seconds.
   * @param after the expected end of the log; an empty `id` in this position is not compared
   * @param id the record's ID: printable ASCII without spaces. No two records have the same ID; a record that may be lost is
   * appended again with the same bytes
   * @returns the record's sequence, after enough servers have stored the record that no single failure can lose the record
   * @throws WrongEnd when the log has a different last record: the servers did not append the record
   * @throws Error when the outcome is unknown: the servers may append the record, now or later
   */
  append(after: LogPosition, id: string, bytes: Uint8Array): Promise<number>;
  /**
   * Returns the extent of the log as the answering server knows it. That server may lag.
   * @throws Error when no server answers
   */
  extent(): Promise<LogExtent>;
  /**
   * Returns records of the log in order, without gaps, from the first record after the sequence on. The records end at the log's
   * end as the answering server knows it, or after many records.
   * @throws RecordsMissing when the first requested record is missing
   * @throws Error when no server answers
   */
  read(afterSequence: number): Promise<readonly LogRecord[]>;
  /**
   * Calls back for each record after its commit. A record may be missing, repeated or late.
   * @returns a function that ends the calls
   */
  onCommitted(listener: (record: LogRecord) => void): () => void;
  /** Sends a message to all current listeners. The message may be lost. */
  send(topic: string, bytes: Uint8Array): void;
  /**
   * Listens to messages.
   * @param topic the topic, in which `*` stands for any one word
   * @param listener receives the message and the message's own topic
   * @returns a function that ends listening
   */
  listen(topic: string, listener: (bytes: Uint8Array, topic: string) => void): () => void;
  /**
   * Sends a request to the node that answers on the topic.
   * @throws Error when no node answers on the topic, or when no answer arrives in time; the node may still have received the request
   */
  ask(topic: string, bytes: Uint8Array, timeoutMs: number): Promise<Uint8Array>;
  /**
   * Answers requests on the topic, in which `*` stands for any one word. When the handler rejects, the sender receives no answer.
   * @returns a function that ends answering
   */
  answer(topic: string, handler: (bytes: Uint8Array, topic: string) => Promise<Uint8Array>): () => void;
  /** The number of ignored messages that no honest node or server sends. */
  readonly refusedMessages: number;
  /** Bytes that were sent and wait for the socket. */
  readonly waitingBytes: number;
  /** Connects to another server, because the current server is silent. */
  reconnect(): void;
  close(): Promise<void>;
}

/** The place of a record in the log; the beginning of the log is {@link LOG_START}. */
export interface LogPosition {
  readonly sequence: number;
  /** The ID of the record; empty if unknown. */
  readonly id: string;
}

export interface LogExtent {
  /** The sequence of the first record that was not deleted. If all records were deleted, the value is the last sequence plus 1. */
  readonly firstSequence: number;
  readonly last: LogPosition;
}

export interface LogRecord extends LogPosition {
  readonly bytes: Uint8Array;
}

/** The position before the first record. */
export const LOG_START: LogPosition = { sequence: 0, id: '' };

/** Thrown when the server has later records, but not the requested record. The requested record is too old, lost or damaged. */
export class RecordsMissing extends Error {
  override readonly name = 'RecordsMissing';
}

/** Thrown when the log has a different end than the writer expects. */
export class WrongEnd extends Error {
  override readonly name = 'WrongEnd';
}
