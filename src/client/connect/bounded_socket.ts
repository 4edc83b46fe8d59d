import { WebSocket } from 'ws';
import { MESSAGE_BYTES_MAX } from './refusal.js';

const HANDSHAKE_MS_MAX = 10_000;

/**
 * Opens a WebSocket of the package `ws`. This is the only way to a WebSocket of a foreign service in Node: a message has a bound, the
 * socket offers no compression, and it follows no redirect.
 */
export function boundedSocket(
  url: string,
  headers: Readonly<Record<string, string>>,
  protocols: readonly string[] = [],
  messageBytesMax = MESSAGE_BYTES_MAX,
): WebSocket {
  return new WebSocket(url, [...protocols], {
    headers: { ...headers },
    maxPayload: messageBytesMax,
    perMessageDeflate: false,
    followRedirects: false,
    handshakeTimeout: HANDSHAKE_MS_MAX,
  });
}
