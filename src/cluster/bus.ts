/** The largest size of a message. With 4 KiB for headers, it is the 1 MiB that each server takes; see `nats_server_info.ts`. */
export const MESSAGE_BYTES_MAX = 1020 * 1024;

/**
 * The interface between a cluster's nodes and its message servers. A bus has one log. Only a writer that knows the log's end can append to
 * the log. A bus also carries messages that may be lost. The rest of this directory uses only this interface, so tests can simulate a bus
 * with any fault.
 */
export interface Bus {
  /**
   * Appends a record directly after `after`, which must be the log's end when the servers commit the record. Settles within seconds.
   * @param after the expected end of the log; an empty `id` matches any ID
   * @param id the record's ID: printable ASCII without spaces. Each record has a unique ID. A retry uses the same ID and bytes
   * @returns the record's sequence, once enough servers have stored the record to survive any single failure
   * @throws WrongEnd when the log has a different last record; the record was not appended
   * @throws Error when the outcome is unknown: the servers may still append the record
   */
  append(after: LogPosition, id: string, bytes: Uint8Array): Promise<number>;
  /**
   * Returns the first and last position of the log. The answering server may lag.
   * @throws Error when no server answers
   */
  extent(): Promise<LogExtent>;
  /**
   * Returns the records after a sequence, in order and without gaps, up to the log's end. The answering server may lag, and may limit the
   * number of records.
   * @throws RecordsMissing when the first requested record is missing
   * @throws Error when no server answers
   */
  read(afterSequence: number): Promise<readonly LogRecord[]>;
  /**
   * Calls the listener for each committed record. Records may be missing, repeated or late.
   * @returns a function that removes the listener
   */
  onCommitted(listener: (record: LogRecord) => void): () => void;
  /** Sends a message to all current listeners. The message may be lost. */
  send(topic: string, bytes: Uint8Array): void;
  /**
   * Subscribes to the messages of a topic.
   * @param topic the topic, in which `*` stands for any one word
   * @param listener receives the message and its exact topic
   * @returns a function that ends the subscription
   */
  listen(topic: string, listener: (bytes: Uint8Array, topic: string) => void): () => void;
  /**
   * Sends a request to the node that answers on the topic.
   * @throws Error when no node answers in time; a node may still have received the request
   */
  ask(topic: string, bytes: Uint8Array, timeoutMs: number): Promise<Uint8Array>;
  /**
   * Answers requests on the topic, in which `*` stands for any one word. If the handler rejects, the requester receives no answer.
   * @returns a function that stops answering
   */
  answer(topic: string, handler: (bytes: Uint8Array, topic: string) => Promise<Uint8Array>): () => void;
  /** The number of ignored messages that no correct node or server sends. */
  readonly refusedMessages: number;
  /** The number of sent bytes that wait for the socket. */
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
  /** The sequence of the first record that was not deleted. If all records were deleted, this is the last sequence plus 1. */
  readonly firstSequence: number;
  readonly last: LogPosition;
}

export interface LogRecord extends LogPosition {
  readonly bytes: Uint8Array;
}

/** The position before the first record. */
export const LOG_START: LogPosition = { sequence: 0, id: '' };

/** Thrown when the server has later records but not the requested record, which is too old, lost or damaged. */
export class RecordsMissing extends Error {
  override readonly name = 'RecordsMissing';
}

/** Thrown when the log has a different end than the writer expects. */
export class WrongEnd extends Error {
  override readonly name = 'WrongEnd';
}
