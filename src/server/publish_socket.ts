import type { TemplatedApp, WebSocket } from 'uWebSockets.js';
import type { SignatureType } from '../model/asset.js';
import type { Pipeline, PublisherSession, PublishOutcome } from '../pipeline.js';
import { ACKS, type Ack, DEFAULT_ACK } from './messages.js';
import type { SocketData, SocketRegistry } from './sockets.js';

export interface PublishSocketOptions {
  readonly pipeline: Pipeline;
  readonly registry: SocketRegistry;
  readonly messageBytesMax: number;
  /** Resolves when all that was accepted so far is on disk; rejects while the disk fails. */
  readonly durable: () => Promise<void>;
  /** Told of a reply that was dropped because the publisher does not read its socket. */
  readonly onReplyDropped: () => void;
  readonly onFault: (path: string, error: unknown) => void;
}

interface PublishData extends SocketData {
  readonly session: PublisherSession;
  readonly ack: Ack;
  open: boolean;
}

/** Above our own limit, which is answered; past this the connection ends without a close frame. */
const PARSER_HEADROOM = 4;

/**
 * Many publishers never read their socket. Replies wait for them up to here and are dropped past it; being unread is no
 * reason to close, so there are no pings that would ask for an answer, and the idle timeout is the longest there is.
 */
const REPLY_BYTES_MAX = 64 * 1024;
const IDLE_TIMEOUT_SECONDS = 960;

/** Serves `/evm/publish` and `/stark/publish`. */
export function servePublishers(app: TemplatedApp, options: PublishSocketOptions): void {
  for (const type of ['evm', 'stark'] as const) servePath(app, type, options);
}

function servePath(app: TemplatedApp, type: SignatureType, options: PublishSocketOptions): void {
  const { pipeline, registry, messageBytesMax, onFault } = options;
  const path = `/${type}/publish`;
  app.ws<PublishData>(path, {
    idleTimeout: IDLE_TIMEOUT_SECONDS,
    maxPayloadLength: messageBytesMax * PARSER_HEADROOM,
    maxBackpressure: REPLY_BYTES_MAX,
    sendPingsAutomatically: false,
    upgrade(res, req, context) {
      registry.upgrade<PublishData>(res, req, context, 'publish', (query, token) => {
        const ack = query.get('ack') ?? DEFAULT_ACK;
        if (!isAck(ack)) return `ack must be one of ${ACKS.join(', ')}`;
        const session = { type, rights: token, tail: undefined };
        return { token, scope: 'publish', session, ack, open: true };
      });
    },
    open(ws) {
      registry.opened(ws);
    },
    message(ws, message, isBinary) {
      const { session, ack } = ws.getUserData();
      const reply = (outcome: PublishOutcome) =>
        ack === 'durable' ? replyWhenDurable(ws, outcome, options) : sendReply(ws, outcome, ack, options);
      if (isBinary) {
        ws.end(1003, 'binary messages are not accepted');
      } else if (message.byteLength > messageBytesMax) {
        const error = `the message has ${message.byteLength} bytes, publish_message_bytes is ${messageBytesMax}`;
        reply({ ok: false, traceId: undefined, error });
      } else {
        const outcome = pipeline.publish(session, Buffer.from(message).toString());
        if (outcome instanceof Promise) outcome.then(reply, (error) => onFault(path, error));
        else reply(outcome);
      }
    },
    close(ws) {
      ws.getUserData().open = false;
      registry.closed(ws);
    },
  });
}

function isAck(text: string): text is Ack {
  return (ACKS as readonly string[]).includes(text);
}

function replyWhenDurable(
  ws: WebSocket<PublishData>,
  outcome: PublishOutcome,
  options: PublishSocketOptions,
): void {
  if (!outcome.ok || outcome.accepted.length === 0) {
    sendReply(ws, outcome, 'durable', options);
    return;
  }
  options.durable().then(
    () => sendReply(ws, outcome, 'durable', options),
    (reason: Error) => {
      const error = `accepted, but not on disk: ${reason.message}`;
      sendReply(ws, { ok: false, traceId: outcome.traceId, error }, 'durable', options);
    },
  );
}

function sendReply(
  ws: WebSocket<PublishData>,
  outcome: PublishOutcome,
  ack: Ack,
  { onReplyDropped }: PublishSocketOptions,
): void {
  if (!ws.getUserData().open) return;
  const text = replyText(outcome, ack);
  if (text !== undefined && ws.send(text, false) === SEND_DROPPED) onReplyDropped();
}

/** What `send` of uWebSockets.js returns when the message did not fit below `maxBackpressure`. */
const SEND_DROPPED = 2;

function replyText(outcome: PublishOutcome, ack: Ack): string | undefined {
  const traceId = outcome.traceId === undefined ? '' : `,"trace_id":${JSON.stringify(outcome.traceId)}`;
  if (!outcome.ok) return `{"type":"error"${traceId},"error":${JSON.stringify(outcome.error)}}`;
  const { accepted, rejected } = outcome;
  const reasons = `"rejected":{${[...rejected].map((entry) => entry.map((text) => JSON.stringify(text)).join(':')).join()}}`;
  if (ack !== 'false') return `{"type":"ack"${traceId},"accepted":${JSON.stringify(accepted)},${reasons}}`;
  if (rejected.size === 0) return undefined;
  const error = `${rejected.size} of ${rejected.size + accepted.length} updates rejected`;
  return `{"type":"error"${traceId},"error":"${error}",${reasons}}`;
}
