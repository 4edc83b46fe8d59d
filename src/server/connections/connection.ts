import type { Scope } from '../../config/config.js';
import type { SignatureType } from '../../model/asset.js';
import type { StreamSession } from '../../stream/group.js';
import type { StreamConnection } from '../../stream/reader_session.js';
import type { Caller } from '../access/logins.js';
import type { RestRequest, RestResponse } from '../http/rest_exchange.js';

/** An open WebSocket, as the service uses it. After the WebSocket is closed, calls do nothing. */
export interface Connection extends StreamConnection {
  owner: ConnectionOwner | undefined;
  /** The socket's index in its owner's roster. */
  ownerPlace: number;
  /** The place at which the connections of the client address are counted. */
  addressPlace: number;
}

/** The owner of a caller's connections, which counts the connections. `closed` subtracts a connection. */
export interface ConnectionOwner {
  closed(socket: Connection): void;
}

/** The handlers of the events of a socket. */
export interface ConnectionEvents {
  /** The assets of a reader of streams. */
  readonly set?: StreamSession['set'];
  text(text: string): void;
  /** Called for each ping of the peer, and for each pong that does not answer a ping of the service. */
  pinged(): void;
  /** Called with the length of a text message longer than {@link ConnectionPath.messageBytesMax}. */
  oversize(messageBytes: number): void;
  /**
   * Called when the service published a frame on the socket's topic while the socket still held unsent bytes. The socket did not receive
   * the frame, and has left the topic.
   * @param sequence the price sequence up to which the socket received frames
   */
  lagged(sequence: number): void;
  /** Called when the socket has sent bytes. `bufferedBytes` bytes still wait. */
  drained(bufferedBytes: number): void;
  /** Called when the service dropped a message because too many bytes wait ({@link ConnectionPath.bufferedBytesMax}). */
  dropped(): void;
  /**
   * Returns the time of the newest publisher's message with an update that the service had not accepted before, in milliseconds of
   * `performance.now`.
   */
  newUpdateMs?(): number;
  /** Called when the socket is closed. No further event follows. */
  closed(): void;
}

/** The settings of the sockets of one path. */
export interface ConnectionPath {
  readonly path: string;
  /** The maximum size of a message in bytes. For a longer message, {@link ConnectionEvents.oversize} reports only the length. */
  readonly messageBytesMax: number;
  /**
   * The maximum message size that the parser of uWebSockets.js accepts. After a longer message, the parser ends the connection
   * without a close frame. So this bound is above {@link messageBytesMax}, and a message between the two bounds receives an
   * answer. A connection can hold this number of bytes of an unfinished message.
   */
  readonly parserBytesMax: number;
  /** The maximum number of bytes that may wait for a socket. Above this number, the service drops further messages. */
  readonly bufferedBytesMax: number;
  readonly idleTimeoutSeconds: number;
}

/** The ratio of {@link ConnectionPath.parserBytesMax} to {@link ConnectionPath.messageBytesMax}. */
export const PARSER_HEADROOM = 2;
/** The same for readers. A request that names all 65,536 streaming IDs, which has 383 kB, is answered with the default limit. */
const READER_PARSER_HEADROOM = 8;

/**
 * The number of bytes that may wait for a reader before the service drops further messages. A slow reader leaves its topic much earlier.
 */
const BACKPRESSURE_BYTES_MAX = 1024 * 1024;

/** The configured limits of the connections of readers. */
export interface ReaderLimits {
  readonly messageBytesMax: number;
  readonly idleTimeoutSeconds: number;
}

/**
 * Returns the settings for readers' connections. The server drops further messages when 1 MiB waits for a reader.
 */
export function readerPath(
  path: string,
  { messageBytesMax, idleTimeoutSeconds }: ReaderLimits,
): ConnectionPath {
  return {
    path,
    messageBytesMax,
    parserBytesMax: messageBytesMax * READER_PARSER_HEADROOM,
    bufferedBytesMax: BACKPRESSURE_BYTES_MAX,
    idleTimeoutSeconds,
  };
}

/** A path and the handler of its sockets. */
export interface Endpoint {
  readonly path: ConnectionPath;
  readonly scope: Scope;
  /** The signature type of the keys that may log in with a signature on this path, instead of with a token. */
  readonly loginType?: SignatureType;
  /**
   * Reads the query of an upgrade request.
   * @returns the function that opens the socket, or a response that refuses the request
   */
  accept(query: ReadonlyMap<string, string>, caller: Caller): UpgradeDecision;
}

export type OpenEndpoint = (socket: Connection) => ConnectionEvents;

/** The answer to an upgrade request: the function that opens the socket, or a response that refuses the request. */
export type UpgradeDecision = OpenEndpoint | RestResponse;

export type DecideUpgrade = (path: ConnectionPath, request: RestRequest) => UpgradeDecision;
