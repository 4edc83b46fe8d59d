/** The part of the WebSocket interface that is used. The sockets of browsers and of the package `ws` have this part. */
export interface SocketLike {
  /** The number of bytes in the send buffer. */
  readonly bufferedAmount: number;
  /** Called when the connection is up. */
  onopen: ((event: never) => void) | null;
  /** Called with each message, whose `data` is its text. */
  onmessage: ((event: never) => void) | null;
  /** Called with the cause of a failure. */
  onerror: ((event: never) => void) | null;
  /** Called with the close code and the reason, after {@link close} and after a failure. */
  onclose: ((event: never) => void) | null;
  /** Sends a text message. */
  send(text: string): void;
  /** Starts the closing handshake. */
  close(code?: number): void;
  /**
   * Sends a ping of the protocol. The package `ws` has this method. Browsers do not have this method, so the client sends a ping
   * message there.
   */
  ping?(): void;
  /** Listens for the answers to {@link ping}. */
  on?(event: 'pong', listener: () => void): unknown;
  /** Ends the connection without waiting for the other side, like the package `ws`. */
  terminate?(): void;
}

/**
 * A function that opens a WebSocket with request headers. With `ws`: `(url, headers, protocols) => new WebSocket(url, protocols, { headers,
 * perMessageDeflate: false, maxPayload: 8 * 1024 ** 2 })`.
 * @param protocols subprotocols; empty if the login is a header
 */
export type OpenConnection = (
  url: string,
  headers: Readonly<Record<string, string>>,
  protocols?: readonly string[],
) => SocketLike;
