import type { SignatureType } from '../../model/asset.js';
import { TurnQueue, type WorkOwner } from '../../model/turn_queue.js';
import type { ReadMessage } from '../../prices/message.js';
import { readPublishMessage } from '../../prices/message.js';
import {
  isUnproven,
  noteOutcome,
  type PublisherSession,
  type PublishOutcome,
  type PublishReceiver,
  TOO_MANY_WAIT,
} from '../../prices/publisher_session.js';
import { type PingRequest, pongText, readRequest } from '../../stream/request.js';
import { CLOSES } from '../../wire/close_codes.js';
import { PUBLISH_PATHS } from '../../wire/paths.js';
import { ACK_TYPE, ACKS, type Ack, DEFAULT_ACK } from '../../wire/publish_message.js';
import { SIGNATURE_TYPES } from '../../wire/signatures.js';
import { ERROR_TYPE, PING_TYPE } from '../../wire/stream.js';
import { failure } from '../http/rest_exchange.js';
import { type Connection, type Endpoint, type OpenEndpoint, PARSER_HEADROOM } from './connection.js';
import {
  type PublisherBounds,
  PublisherBoundsDirectory,
  type PublisherBoundsOptions,
} from './publisher_bounds.js';

export interface PublishEndpointOptions extends PublisherBoundsOptions {
  readonly receiver: PublishReceiver;
  readonly updatesPerMessageMax: number;
  readonly traceIdLengthMax: number;
  /** Called when a message that may contain prices arrived. */
  readonly onMessage: () => void;
  /** Called for each message that the service refuses as a whole. The reason is one of a few fixed texts. */
  readonly onRefused: (reason: string) => void;
  /** Called when the service dropped a reply because the publisher does not read its socket. */
  readonly onReplyDropped: () => void;
  readonly onFault: (path: string, error: unknown) => void;
}

/**
 * The maximum number of reply bytes that wait for a publisher; the service drops further replies. Many publishers never read
 * their socket, and the service keeps their connections open. So the idle timeout is the longest possible.
 */
const REPLY_BYTES_MAX = 64 * 1024;
const IDLE_TIMEOUT_SECONDS = 960;

/** Makes the endpoints `/evm/publish` and `/stark/publish`. */
export function publishEndpoints(options: PublishEndpointOptions): readonly Endpoint[] {
  const bounds = new PublisherBoundsDirectory(options);
  const reading = new TurnQueue({
    waitingBytesMax: UNREAD_BYTES_MAX,
    nowMs: () => performance.now(),
    defer: setImmediate,
  });
  return SIGNATURE_TYPES.map((type) => publishEndpoint(type, options, bounds, reading));
}

/** The number of bytes of messages that may wait to be read, for all callers together. */
const UNREAD_BYTES_MAX = 32 * 1024 * 1024;

function publishEndpoint(
  type: SignatureType,
  options: PublishEndpointOptions,
  boundsOf: PublisherBoundsDirectory,
  reading: TurnQueue,
): Endpoint {
  const { messageBytesMax } = options;
  return {
    path: {
      path: PUBLISH_PATHS[type],
      messageBytesMax,
      parserBytesMax: messageBytesMax * PARSER_HEADROOM,
      bufferedBytesMax: REPLY_BYTES_MAX,
      idleTimeoutSeconds: IDLE_TIMEOUT_SECONDS,
    },
    scope: 'publish',
    loginType: type,
    accept(query, caller) {
      const ack = query.get('ack') ?? DEFAULT_ACK;
      if (!isAck(ack)) return failure(400, `ack must be one of ${ACKS.join(', ')}`);
      const session: PublisherSession = {
        type,
        rights: caller,
        isDurable: ack === 'durable',
        unsettled: [],
        // V8 compiles the way of a message for sessions of one shape, so this field exists before the first message.
        isProven: false,
      };
      const ofCaller = boundsOf.of(caller);
      if (!isUnproven(session)) {
        if (!ofCaller.admitConnection()) return failure(429, CLOSES.refusedMessages.reason);
        return openPublisher(session, ack, { bounds: () => ofCaller, reading }, options);
      }
      const ofConnection = boundsOf.ofConnection(caller);
      const bounds = () => (isUnproven(session) ? ofConnection : ofCaller);
      return openPublisher(session, ack, { bounds, reading }, options);
    },
  };
}

/** The queues and bounds that each message of a caller passes. */
interface PublishGates {
  /** Returns the bounds that apply now. */
  readonly bounds: () => PublisherBounds;
  /** The messages that wait to be read. */
  readonly reading: TurnQueue;
}

function openPublisher(
  session: PublisherSession,
  ack: Ack,
  { bounds, reading }: PublishGates,
  options: PublishEndpointOptions,
): OpenEndpoint {
  const { receiver, messageBytesMax, updatesPerMessageMax, traceIdLengthMax } = options;
  const { onRefused, onReplyDropped, onFault } = options;
  const owner: WorkOwner = { caller: session.rights.identity, connection: session };
  let newUpdateMs = Number.NEGATIVE_INFINITY;
  return (socket) => {
    const pings = { controlMessagesLeft: 0, controlSecond: 0 };
    const reply = (outcome: PublishOutcome, fault?: string) => {
      bounds().note(outcome);
      if (noteOutcome(session, outcome)) newUpdateMs = performance.now();
      if (!outcome.ok && outcome.error === TOO_MANY_WAIT) onRefused(TOO_MANY_WAIT);
      sendReply(socket, outcome, ack, fault);
    };
    const refuse = (messageBytes: number, error: string, traceId?: string) => {
      reply({ ok: false, traceId, error });
      bounds().countBad(socket, messageBytes);
    };
    const fail = (error: unknown) => onFault(PUBLISH_PATHS[session.type], error);
    /** @returns true when the text is a ping */
    const answerPing = (text: string) => {
      const ping = readPing(text);
      if (ping === undefined) return false;
      if (bounds().takePing(socket, pings)) socket.send(pongText(ping));
      return true;
    };
    const read = (text: string) => {
      const message = readPublishMessage(text, updatesPerMessageMax, traceIdLengthMax);
      if (!message.ok) {
        if (text.length > SHORT_PING_LENGTH_MAX && answerPing(text)) return;
        onRefused('unreadable message');
        refuse(text.length, message.error, message.traceId);
        return;
      }
      // A message without prices has no effect, so this thread does not send the message to the thread that makes prices.
      const outcome = hasPrices(message) ? receiver.receive(session, message) : withoutPrices(message);
      const { fault } = message;
      if (outcome instanceof Promise) outcome.then((later) => reply(later, fault), fail);
      else reply(outcome, fault);
    };
    return {
      text(text) {
        if (text.length <= SHORT_PING_LENGTH_MAX && answerPing(text)) return;
        options.onMessage();
        const unread = bounds().take(text);
        if (unread !== undefined) {
          onRefused(unread.reason);
          if (unread.isBad) refuse(text.length, unread.error);
          else reply({ ok: false, traceId: undefined, error: unread.error });
        } else if (!reading.hasRoom(owner.caller, text.length)) {
          onRefused(TOO_MANY_UNREAD);
          reply({ ok: false, traceId: undefined, error: TOO_MANY_UNREAD });
        } else {
          reading.run(owner, text.length, () => {
            try {
              read(text);
            } catch (fault) {
              fail(fault);
            }
          });
        }
      },
      pinged() {
        bounds().takePing(socket, pings);
      },
      newUpdateMs: () => newUpdateMs,
      oversize(messageBytes) {
        const error = `the message has ${messageBytes} bytes, publish_message_bytes is ${messageBytesMax}`;
        options.onMessage();
        onRefused('past publish_message_bytes');
        refuse(messageBytes, error);
      },
      lagged() {
        throw new Error('a publisher is in no topic');
      },
      drained() {},
      dropped: onReplyDropped,
      closed() {
        // The socket's last messages may still be in the queue.
        reading.run(owner, 0, () => receiver.closed?.(session));
      },
    };
  };
}

function hasPrices({ updates, malformed }: ReadMessage): boolean {
  return updates.length > 0 || malformed.size > 0;
}

function withoutPrices({ traceId, malformed }: ReadMessage): PublishOutcome {
  return { ok: true, traceId, accepted: [], rejected: malformed };
}

const TOO_MANY_UNREAD = 'overloaded: too many messages wait to be read';

/** The longest text that the service first tries to read as a ping. Almost all longer texts are publish messages. */
const SHORT_PING_LENGTH_MAX = 512;
/** The longest ping: the default of `limits.client_message_bytes`, the limit of readers. */
const PING_LENGTH_MAX = 64 * 1024;

/** Reads a ping. Publishers send pings to check the connection, as readers do. */
function readPing(text: string): PingRequest | undefined {
  if (text.length > PING_LENGTH_MAX || !text.includes(PING_TYPE)) return undefined;
  const request = readRequest(text);
  return 'type' in request && request.type === PING_TYPE ? request : undefined;
}

function isAck(text: string): text is Ack {
  return (ACKS as readonly string[]).includes(text);
}

/** Sends a reply. If the socket is already closed, the reply is dropped. */
function sendReply(socket: Connection, outcome: PublishOutcome, ack: Ack, fault?: string): void {
  const text = replyText(outcome, ack, fault);
  if (text !== undefined) socket.send(text);
}

/** @param fault the fault of a field other than the prices; the service accepts the prices */
function replyText(outcome: PublishOutcome, ack: Ack, fault?: string): string | undefined {
  const traceId = outcome.traceId === undefined ? '' : `,"trace_id":${JSON.stringify(outcome.traceId)}`;
  if (!outcome.ok) return `{"type":"${ERROR_TYPE}"${traceId},"error":${JSON.stringify(outcome.error)}}`;
  const { accepted, rejected } = outcome;
  const reasons = `"rejected":{${[...rejected].map((entry) => entry.map((text) => JSON.stringify(text)).join(':')).join()}}`;
  if (ack !== 'false') {
    const error = fault === undefined ? '' : `,"error":${JSON.stringify(fault)}`;
    const durable = outcome.durable === undefined ? '' : `,"durable":"${outcome.durable}"`;
    return `{"type":"${ACK_TYPE}"${traceId},"accepted":${JSON.stringify(accepted)},${reasons}${durable}${error}}`;
  }
  const errors = fault === undefined ? [] : [fault];
  if (rejected.size > 0)
    errors.push(`${rejected.size} of ${rejected.size + accepted.length} updates rejected`);
  if (errors.length === 0) return undefined;
  return `{"type":"${ERROR_TYPE}"${traceId},"error":"${errors.join('; ')}",${reasons}}`;
}
