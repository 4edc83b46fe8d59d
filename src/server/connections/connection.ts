import type { Scope } from '../../config/config.js';
import type { SignatureType } from '../../model/asset.js';
import type { StreamConnection } from '../../stream/reader_session.js';
import type { Caller } from '../access/logins.js';
import type { RestRequest, RestResponse } from '../http/rest_exchange.js';

/** An open WebSocket, for the service. After it is closed, calls do nothing. */
export interface Connection extends StreamConnection {
  owner: ConnectionOwner | undefined;
  /** The socket's place among its owner's sockets. */
  ownerPlace: number;
}

/** Owner of the connections of one caller, which counts them; `closed` subtracts one. */
export interface ConnectionOwner {
  closed(socket: Connection): void;
}

/** The handlers of the events of one socket. */
export interface ConnectionEvents {
  text(text: string): void;
  /** Called for each ping, and for each pong that answers no ping of the service. */
  pinged(): void;
  /** Called with the length of a text message longer than {@link ConnectionPath.messageBytesMax}. */
  oversize(messageBytes: number): void;
  /**
   * Called when the socket held bytes while a frame was published on its topic: it did not receive the frame and has left the
   * topic.
   * @param sequence the price sequence up to which it received frames
   */
  lagged(sequence: number): void;
  /** Called when the socket has sent bytes; `bufferedBytes` still wait. */
  drained(bufferedBytes: number): void;
  /** Called when a message was not sent because {@link ConnectionPath.bufferedBytesMax} bytes wait. */
  dropped(): void;
  /** Called when nothing came for a while, not even the answer to a ping. Only with {@link ConnectionPath.reportsSilence}. */
  silent(): void;
  /** Called while the silence lasts, when no message may still be unfinished. Only with {@link ConnectionPath.reportsSilence}. */
  unfinished(): void;
  /** Called when something whole came after a silence. */
  heard(): void;
  /** Called when the socket is closed; no further event follows. */
  closed(): void;
}

/** The settings of the sockets of one path. */
export interface ConnectionPath {
  readonly path: string;
  /** Longer messages become {@link ConnectionEvents.oversize}, without their bytes. */
  readonly messageBytesMax: number;
  /**
   * Longer messages end the connection without a close frame, by uWebSockets.js. So this bound is above {@link messageBytesMax};
   * a message between the two is answered. A connection can hold as many bytes of an unfinished message.
   */
  readonly parserBytesMax: number;
  /** When this many bytes wait for a socket, further messages are dropped. */
  readonly bufferedBytesMax: number;
  readonly idleTimeoutSeconds: number;
  readonly sendsPings: boolean;
  /** True when connections are pinged after some seconds without a whole message, and those that do not answer are reported. */
  readonly reportsSilence: boolean;
}

/** The ratio of {@link ConnectionPath.parserBytesMax} to {@link ConnectionPath.messageBytesMax}. */
export const PARSER_HEADROOM = 2;

/** Bytes that may wait for a reader before further messages are dropped. Slow readers leave their topic long before. */
const BACKPRESSURE_BYTES_MAX = 256 * 1024;

/** The configured limits of the connections of readers. */
export interface ReaderLimits {
  readonly messageBytesMax: number;
  readonly idleTimeoutSeconds: number;
}

/** Returns the settings for connections of readers: they are pinged, and little waits for them. */
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

/** A path and the handler of its sockets. */
export interface Endpoint {
  readonly path: ConnectionPath;
  readonly scope: Scope;
  /** The type of the keys that may log in by signature here, instead of with a token. */
  readonly loginType?: SignatureType;
  /** Reads the query of an upgrade request. @returns the function that opens the socket, or a response that refuses it */
  accept(query: ReadonlyMap<string, string>, caller: Caller): UpgradeDecision;
}

export type OpenEndpoint = (socket: Connection) => ConnectionEvents;

/** The answer to an upgrade request: a socket, or a response that refuses it. */
export type UpgradeDecision = OpenEndpoint | RestResponse;

export type DecideUpgrade = (path: ConnectionPath, request: RestRequest) => UpgradeDecision;
