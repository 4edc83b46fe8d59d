import type { Scope } from '../config/config.js';
import type { StreamConnection } from '../stream/session.js';
import type { Token } from './auth.js';

/** An open WebSocket as the service sees it, on this thread or on another. Once it is closed, calls do nothing. */
export interface Socket extends StreamConnection {
  owner: SocketOwner | undefined;
  /** Its place among its owner's sockets. */
  ownerPlace: number;
}

/** Who keeps count of a socket, and is told when it is closed. */
export interface SocketOwner {
  closed(socket: Socket): void;
}

/** What is done with what happens on one socket. */
export interface SocketEvents {
  text(text: string): void;
  /** A text message longer than {@link SocketPath.messageBytesMax}. */
  oversize(messageBytes: number): void;
  /**
   * It held bytes when a frame was published on its topic: it did not get the frame and has left the topic.
   * @param sequence the price sequence of what it got
   */
  lagged(sequence: number): void;
  /** It has taken bytes; so many still wait. */
  drained(bufferedBytes: number): void;
  /** Something was not sent because {@link SocketPath.bufferedBytesMax} bytes wait. */
  dropped(): void;
  /** Nothing happens on it any more. */
  closed(): void;
}

/** How the sockets of one path are served, whatever is said on them. Plain data: it is sent to other threads. */
export interface SocketPath {
  readonly path: string;
  /** Longer messages are told of, without their bytes. */
  readonly messageBytesMax: number;
  /** Longer messages end the connection without a close frame, by uWebSockets.js. */
  readonly parserBytesMax: number;
  /** When this many bytes wait for a socket, what follows is dropped. */
  readonly bufferedBytesMax: number;
  readonly idleTimeoutSeconds: number;
  readonly sendsPings: boolean;
}

/** One path and what its sockets are for. */
export interface Endpoint {
  readonly path: SocketPath;
  readonly scope: Scope;
  /** Reads the query of an upgrade request. @returns what opens the socket, or an error text. */
  accept(query: ReadonlyMap<string, string>, token: Token): OpenSocket | string;
}

export type OpenSocket = (socket: Socket) => SocketEvents;
