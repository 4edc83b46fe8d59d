import type { Scope } from '../../config/config.js';
import type { SignatureType } from '../../model/asset.js';
import type { StreamConnection } from '../../stream/reader_session.js';
import type { Caller } from '../access/logins.js';
import type { RestRequest, RestResponse } from '../http/rest_exchange.js';

/** An open WebSocket as the service sees it. Once it is closed, calls do nothing. */
export interface Connection extends StreamConnection {
  owner: ConnectionOwner | undefined;
  /** Its place among its owner's sockets. */
  ownerPlace: number;
}

/** Counts the connections of one caller; `closed` takes one out again. */
export interface ConnectionOwner {
  closed(socket: Connection): void;
}

/** What is done with what happens on one socket. */
export interface ConnectionEvents {
  text(text: string): void;
  /** A text message longer than {@link ConnectionPath.messageBytesMax}. */
  oversize(messageBytes: number): void;
  /**
   * It held bytes when a frame was published on its topic: it did not get the frame and has left the topic.
   * @param sequence the price sequence of what it got
   */
  lagged(sequence: number): void;
  /** It has taken bytes; `bufferedBytes` still wait. */
  drained(bufferedBytes: number): void;
  /** Something was not sent because {@link ConnectionPath.bufferedBytesMax} bytes wait. */
  dropped(): void;
  /** Nothing came for a while, not even the answer to a ping. Only where {@link ConnectionPath.reportsSilence}. */
  silent(): void;
  /** Something whole came after that. */
  heard(): void;
  /** Nothing happens on it any more. */
  closed(): void;
}

/** How the sockets of one path are served, whatever is said on them. */
export interface ConnectionPath {
  readonly path: string;
  /** Longer messages become {@link ConnectionEvents.oversize}, without their bytes. */
  readonly messageBytesMax: number;
  /**
   * Longer messages end the connection without a close frame, by uWebSockets.js, so this is above {@link messageBytesMax}, past which
   * a message is answered. It is also what a connection can hold of an unfinished message.
   */
  readonly parserBytesMax: number;
  /** When this many bytes wait for a socket, what follows is dropped. */
  readonly bufferedBytesMax: number;
  readonly idleTimeoutSeconds: number;
  readonly sendsPings: boolean;
  /** Whether its connections are pinged after some seconds without a whole message, and those that do not answer are reported. */
  readonly reportsSilence: boolean;
}

/** {@link ConnectionPath.parserBytesMax} is as many times {@link ConnectionPath.messageBytesMax}. */
export const PARSER_HEADROOM = 2;

/** Bytes that may wait for a reader before what follows is dropped. Slow readers leave their topic long before. */
const BACKPRESSURE_BYTES_MAX = 1024 * 1024;

/** What the configuration says of the connections of readers. */
export interface ReaderLimits {
  readonly messageBytesMax: number;
  readonly idleTimeoutSeconds: number;
}

/** How the connections of readers are served: they are pinged, and little waits for them. */
export function readerPath(
  path: string,
  { messageBytesMax, idleTimeoutSeconds }: ReaderLimits,
): ConnectionPath {
  return {
    path,
    messageBytesMax,
    parserBytesMax: messageBytesMax * PARSER_HEADROOM,
    bufferedBytesMax: BACKPRESSURE_BYTES_MAX,
    idleTimeoutSeconds,
    sendsPings: true,
    reportsSilence: false,
  };
}

/** One path and what its sockets are for. */
export interface Endpoint {
  readonly path: ConnectionPath;
  readonly scope: Scope;
  /** The keys that may log in by signature here, instead of a token. */
  readonly loginType?: SignatureType;
  /** Reads the query of an upgrade request. @returns what opens the socket, or a response that refuses it */
  accept(query: ReadonlyMap<string, string>, caller: Caller): UpgradeDecision;
}

export type OpenEndpoint = (socket: Connection) => ConnectionEvents;

/** What becomes of an upgrade request: a socket, or a response that refuses it. */
export type UpgradeDecision = OpenEndpoint | RestResponse;

export type DecideUpgrade = (path: ConnectionPath, request: RestRequest) => UpgradeDecision;
