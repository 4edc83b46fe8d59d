import type { TemplatedApp, WebSocket } from 'uWebSockets.js';
import type { StreamEngine } from '../stream/engine.js';
import { parseStreamOptions, type StreamOptions } from '../stream/options.js';
import type { StreamConnection, StreamSession } from '../stream/session.js';
import type { SocketData, SocketRegistry } from './sockets.js';

export interface StreamSocketOptions {
  readonly stream: StreamEngine;
  readonly registry: SocketRegistry;
  readonly messageBytesMax: number;
  readonly idleTimeoutSeconds: number;
}

interface StreamData extends SocketData {
  readonly options: StreamOptions;
  session: StreamSession | undefined;
}

/**
 * uWebSockets.js ends a connection without a close frame when a message is longer than its own limit, so that is well
 * above ours, which is answered.
 */
const PARSER_HEADROOM = 16;

/** Bytes that may wait for a socket before what follows is dropped. Slow readers leave their topic long before. */
const BACKPRESSURE_BYTES_MAX = 1024 * 1024;

/** Serves `/ws`. */
export function serveStreams(app: TemplatedApp, options: StreamSocketOptions): void {
  const { stream, registry, messageBytesMax, idleTimeoutSeconds } = options;
  app.ws<StreamData>('/ws', {
    idleTimeout: idleTimeoutSeconds,
    maxPayloadLength: messageBytesMax * PARSER_HEADROOM,
    maxBackpressure: BACKPRESSURE_BYTES_MAX,
    sendPingsAutomatically: true,
    upgrade(res, req, context) {
      registry.upgrade<StreamData>(res, req, context, 'stream', (query, token) => {
        const parsed = parseStreamOptions(query);
        return typeof parsed === 'string'
          ? parsed
          : { token, scope: 'stream', options: parsed, session: undefined };
      });
    },
    open(ws) {
      registry.opened(ws);
      const data = ws.getUserData();
      data.session = stream.open(connectionOf(ws), data.options, data.token);
    },
    message(ws, message, isBinary) {
      const session = ws.getUserData().session!;
      if (isBinary) ws.end(1003, 'binary messages are not accepted');
      else if (message.byteLength > messageBytesMax) stream.refuseOversize(session, message.byteLength);
      else stream.receive(session, Buffer.from(message).toString());
    },
    drain(ws) {
      stream.drained(ws.getUserData().session!);
    },
    close(ws) {
      registry.closed(ws);
      stream.closed(ws.getUserData().session!);
    },
  });
}

function connectionOf(ws: WebSocket<StreamData>): StreamConnection {
  return {
    send: (frame) => {
      ws.send(frame, false);
    },
    join: (topic) => {
      ws.subscribe(topic);
    },
    leave: (topic) => {
      ws.unsubscribe(topic);
    },
    bufferedBytes: () => ws.getBufferedAmount(),
    close: (code, reason) => ws.end(code, reason),
  };
}
