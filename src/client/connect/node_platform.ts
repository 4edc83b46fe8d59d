import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { foreignText } from '../../wire/foreign_text.js';
import { boundedSocket } from './bounded_socket.js';
import { explainNetworkError, withNetworkReasons } from './network_reason.js';
import { BROWSER, type Platform } from './platform.js';
import { errorOf, RefusedConnection } from './refusal.js';

/** The number of characters that the client reads of the answer to a refused connection. */
const REFUSAL_LENGTH_MAX = 4_096;

/** The platform Node. Sockets of Node log in with the header and report the reason for a refused connection. */
export const NODE: Platform = {
  ...BROWSER,
  // Runs the callback after all sockets with data were read.
  afterReceiving: (run) => void setImmediate(run),
  fetch: withNetworkReasons(BROWSER.fetch),
  openSocket(url, headers, protocols = []) {
    const socket = boundedSocket(url, headers, protocols);
    // The error must be explained before any other listener reads it.
    socket.prependListener('error', explainNetworkError);
    socket.on('unexpected-response', (_request, response) => void refuseUpgrade(socket, response));
    return socket;
  },
  sendsHeaders: true,
  openWorker: undefined,
};

/** Ends a socket with the reason that the service gives. The socket counts as opening until that reason arrives. */
async function refuseUpgrade(socket: WebSocket, response: IncomingMessage): Promise<void> {
  const status = response.statusCode!;
  const { location } = response.headers;
  const redirect = location === undefined ? '' : `, a redirect to ${foreignText(location)}`;
  const reason = errorOf(await textOf(response)) ?? `HTTP ${status}${redirect}`;
  socket.emit('error', new RefusedConnection(status, reason));
  socket.terminate();
}

/** Reads the body of an answer. If the connection ends early, the function returns the part that has arrived. */
async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      text += chunk;
      if (text.length > REFUSAL_LENGTH_MAX) break;
    }
  } catch {
    // The connection was lost, or the client closed it.
  }
  return text;
}
