import type { PublisherSession, PublishOutcome, PublishReceiver } from '../../aggregator/session.js';
import type { SignatureType } from '../../model/asset.js';
import { type PingRequest, pongText, readRequest } from '../../stream/request.js';
import { PUBLISH_PATHS } from '../../wire/paths.js';
import { ACK_TYPE, ACKS, type Ack, DEFAULT_ACK } from '../../wire/publish.js';
import { SIGNATURE_TYPES } from '../../wire/signatures.js';
import { ERROR_TYPE, PING_TYPE } from '../../wire/stream.js';
import { type Connection, type Endpoint, type OpenConnection, PARSER_HEADROOM } from './connection.js';
import { SilentPublishers } from './silent_publishers.js';

export interface PublishEndpointOptions {
  readonly receiver: PublishReceiver;
  readonly messageBytesMax: number;
  /** Resolves when all that was accepted so far is on disk; rejects while the disk fails. */
  readonly durable: () => Promise<void>;
  /** Called when a reply was dropped because the publisher does not read its socket. */
  readonly onReplyDropped: () => void;
  readonly onFault: (path: string, error: unknown) => void;
}

/**
 * Many publishers never read their socket. Replies wait for them up to here and are dropped past it; being unread is no
 * reason to close, so the idle timeout is the longest there is, and only {@link SilentPublishers} asks for answers to pings.
 */
const REPLY_BYTES_MAX = 64 * 1024;
const IDLE_TIMEOUT_SECONDS = 960;

/** `/evm/publish` and `/stark/publish`. */
export function publishEndpoints(options: PublishEndpointOptions): readonly Endpoint[] {
  const silent = new SilentPublishers(options.messageBytesMax * PARSER_HEADROOM);
  return SIGNATURE_TYPES.map((type) => publishEndpoint(type, options, silent));
}

function publishEndpoint(
  type: SignatureType,
  options: PublishEndpointOptions,
  silent: SilentPublishers,
): Endpoint {
  const { messageBytesMax } = options;
  return {
    path: {
      path: PUBLISH_PATHS[type],
      messageBytesMax,
      parserBytesMax: messageBytesMax * PARSER_HEADROOM,
      bufferedBytesMax: REPLY_BYTES_MAX,
      idleTimeoutSeconds: IDLE_TIMEOUT_SECONDS,
      sendsPings: false,
      reportsSilence: true,
    },
    scope: 'publish',
    loginType: type,
    accept(query, caller) {
      const ack = query.get('ack') ?? DEFAULT_ACK;
      if (!isAck(ack)) return `ack must be one of ${ACKS.join(', ')}`;
      return openPublisher({ type, rights: caller, tail: undefined }, ack, options, {
        add: (socket) => silent.add(caller, socket),
        delete: (socket) => silent.delete(caller, socket),
      });
    },
  };
}

/** The {@link SilentPublishers} of one caller. */
interface SilentOfCaller {
  add(socket: Connection): void;
  delete(socket: Connection): void;
}

function openPublisher(
  session: PublisherSession,
  ack: Ack,
  options: PublishEndpointOptions,
  silent: SilentOfCaller,
): OpenConnection {
  const { receiver, messageBytesMax, onReplyDropped, onFault } = options;
  return (socket) => {
    let hasPublished = false;
    const reply = (outcome: PublishOutcome) => {
      if (outcome.ok && outcome.accepted.length > 0) hasPublished = true;
      if (ack === 'durable') replyWhenDurable(socket, outcome, options);
      else sendReply(socket, outcome, ack);
    };
    return {
      text(text) {
        const ping = readPing(text);
        if (ping !== undefined) {
          socket.send(pongText(ping));
          return;
        }
        const outcome = receiver.receive(session, text);
        if (outcome instanceof Promise)
          outcome.then(reply, (error) => onFault(PUBLISH_PATHS[session.type], error));
        else reply(outcome);
      },
      oversize(messageBytes) {
        const error = `the message has ${messageBytes} bytes, publish_message_bytes is ${messageBytesMax}`;
        reply({ ok: false, traceId: undefined, error });
      },
      lagged() {
        throw new Error('a publisher is in no topic');
      },
      drained() {},
      dropped: onReplyDropped,
      silent() {
        if (!hasPublished) silent.add(socket);
      },
      heard: () => silent.delete(socket),
      closed: () => silent.delete(socket),
    };
  };
}

/** A longer text is read as a publish message: most of those cost no more than this comparison. */
const PING_LENGTH_MAX = 512;

/** Publishers ask as readers do whether the connection still works. */
function readPing(text: string): PingRequest | undefined {
  if (text.length > PING_LENGTH_MAX || !text.includes(PING_TYPE)) return undefined;
  const request = readRequest(text);
  return 'type' in request && request.type === PING_TYPE ? request : undefined;
}

function isAck(text: string): text is Ack {
  return (ACKS as readonly string[]).includes(text);
}

function replyWhenDurable(
  socket: Connection,
  outcome: PublishOutcome,
  { durable }: PublishEndpointOptions,
): void {
  if (!outcome.ok || outcome.accepted.length === 0) {
    sendReply(socket, outcome, 'durable');
    return;
  }
  durable().then(
    () => sendReply(socket, outcome, 'durable'),
    (reason: Error) => {
      const error = `accepted, but not on disk: ${reason.message}`;
      sendReply(socket, { ok: false, traceId: outcome.traceId, error }, 'durable');
    },
  );
}

/** A socket that is closed by now takes no reply. */
function sendReply(socket: Connection, outcome: PublishOutcome, ack: Ack): void {
  const text = replyText(outcome, ack);
  if (text !== undefined) socket.send(text);
}

function replyText(outcome: PublishOutcome, ack: Ack): string | undefined {
  const traceId = outcome.traceId === undefined ? '' : `,"trace_id":${JSON.stringify(outcome.traceId)}`;
  if (!outcome.ok) return `{"type":"${ERROR_TYPE}"${traceId},"error":${JSON.stringify(outcome.error)}}`;
  const { accepted, rejected } = outcome;
  const reasons = `"rejected":{${[...rejected].map((entry) => entry.map((text) => JSON.stringify(text)).join(':')).join()}}`;
  if (ack !== 'false')
    return `{"type":"${ACK_TYPE}"${traceId},"accepted":${JSON.stringify(accepted)},${reasons}}`;
  if (rejected.size === 0) return undefined;
  const error = `${rejected.size} of ${rejected.size + accepted.length} updates rejected`;
  return `{"type":"${ERROR_TYPE}"${traceId},"error":"${error}",${reasons}}`;
}
