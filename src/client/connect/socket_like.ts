/** The part of the WebSocket interface that is used; browsers' own sockets and those of the package `ws` have it. */
export interface SocketLike {
  readonly bufferedAmount: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  send(text: string): void;
  close(code?: number): void;
  /** Sends a ping of the protocol. The package `ws` has this method, browsers do not: there the ping is a message. */
  ping?(): void;
  /** Listens for the answers to {@link ping}. */
  on?(event: 'pong', listener: () => void): unknown;
  /** Ends the connection without waiting for the other side, as the package `ws` does. */
  terminate?(): void;
}

/**
 * Opens a WebSocket with request headers. With `ws`: `(url, headers, protocols) => new WebSocket(url, protocols, { headers })`.
 * @param protocols subprotocols; none if the login is a header
 */
export type OpenConnection = (
  url: string,
  headers: Readonly<Record<string, string>>,
  protocols?: readonly string[],
) => SocketLike;
