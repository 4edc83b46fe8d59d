import { FOREIGN_CHARACTERS_MAX, serviceWords, visibleText } from '../../wire/foreign_text.js';
import { PUBLISH_PATHS } from '../../wire/paths.js';
import { ACK_TYPE, type RequestedAck } from '../../wire/publish_message.js';
import type { SignatureType } from '../../wire/signatures.js';
import { ERROR_TYPE } from '../../wire/stream.js';
import type { Schedule } from '../connect/liveness.js';
import { scheduleTimeout } from '../connect/platform.js';
import { type ConnectionOptions, ReconnectingSocket } from '../connect/reconnecting_socket.js';
import { type PriceUpdate, publishMessage } from '../sign/sign_price.js';
import { parseForeignJson } from '../verify/foreign_json.js';
import { bySymbol } from './symbol_table.js';

/** The options of a publisher of prices that are already signed. */
export interface PublisherOptions extends ConnectionOptions {
  /** The signature type of the prices, which selects the path. */
  readonly signatureType: SignatureType;
  /**
   * The answer that the service sends to each message. `true`: after the service judged the message. `durable`: after the
   * effect of the message is on disk. Default: no answers, only rejections.
   */
  readonly ack?: RequestedAck | undefined;
  /** Called when the service reports bad updates or a bad message. */
  readonly onRejection?: ((rejection: Rejection) => void) | undefined;
}

/** A report of the service about updates, or a whole message, that the service did not accept. */
export interface Rejection {
  /** The trace ID of the message; `undefined` if the service could not read the trace ID. */
  readonly traceId: string | undefined;
  /** The service's reason. */
  readonly error: string;
  /** Asset to reason; empty when the whole message was bad. */
  readonly rejected: Readonly<Record<string, string>>;
}

/** The result of a message of a {@link Publisher}. */
export type PublishResult =
  | {
      /**
       * The outcome. `sent`: the message asked for no answer. `answered`: the service judged the message. `failed`: the message
       * was not sent, or no answer came. If no answer came, the service may have accepted the message.
       */
      readonly status: 'sent';
      /** The trace ID of the message. */
      readonly traceId: string;
    }
  | {
      readonly status: 'answered';
      readonly traceId: string;
      /** The assets whose updates the service accepted. */
      readonly accepted: readonly string[];
      /** Asset to reason, for each update that the service refused. */
      readonly rejected: Readonly<Record<string, string>>;
      /** `memory`: a durable answer of a service whose operator lets a power cut take acknowledged prices. */
      readonly durable?: 'memory';
    }
  | {
      readonly status: 'failed';
      readonly traceId: string;
      /** The reason why the answer is missing. */
      readonly reason: string;
    };

/** The largest number of messages without an answer. The publisher refuses further messages. */
const UNANSWERED_MAX = 1_000;
const ANSWER_DELAY_MS_MAX = 10_000;
/**
 * The silence before a probe. Without requested answers the service does not report accepted updates, so only its pongs are
 * expected.
 */
const QUIET_MS = 2_000;

/**
 * Publisher of signed prices on a WebSocket that reconnects. Messages are not kept, because prices become outdated; a message
 * without a connection fails immediately.
 */
export class Publisher {
  readonly #socket: ReconnectingSocket;
  readonly #options: PublisherOptions;
  readonly #schedule: Schedule;
  readonly #unanswered = new Map<string, (result: PublishResult) => void>();
  readonly #tracePrefix = Math.random().toString(36).slice(2, 10);
  #messages = 0;

  /** Connects immediately. */
  constructor(options: PublisherOptions) {
    this.#options = options;
    this.#schedule = options.schedule ?? scheduleTimeout;
    const query = options.ack === undefined ? '' : `?ack=${options.ack}`;
    const path = PUBLISH_PATHS[options.signatureType] + query;
    this.#socket = new ReconnectingSocket(path, QUIET_MS, options, {
      onOpen: () => {},
      onText: (text) => this.#read(text),
      onDown: ({ reason }) => this.#failAll(reason),
    });
  }

  /** `true` while there is a connection. */
  get isOpen(): boolean {
    return this.#socket.isOpen;
  }

  /** The number of bytes in the send buffer. A program that requests no answers reads this number before further messages. */
  get bufferedBytes(): number {
    return this.#socket.bufferedBytes;
  }

  /**
   * Waits until a connection is up.
   * @throws Error when no connection will follow
   */
  opened(): Promise<void> {
    return this.#socket.opened();
  }

  /**
   * Sends all updates in a single message. Each update is for a different asset.
   * @throws RangeError when two updates are for the same asset
   */
  publish(updates: readonly PriceUpdate[]): Promise<PublishResult> {
    this.#messages += 1;
    const traceId = `${this.#tracePrefix}-${this.#messages}`;
    return this.forward(publishMessage(traceId, updates), traceId);
  }

  /** Sends the text of a whole `signed_prices` message unchanged. `traceId` is the `trace_id` of the message. */
  forward(message: string, traceId: string): Promise<PublishResult> {
    const failed = (reason: string) => Promise.resolve({ status: 'failed', traceId, reason } as const);
    if (this.#unanswered.has(traceId))
      return failed('an earlier message with this trace_id is not answered yet');
    if (this.#unanswered.size >= UNANSWERED_MAX)
      return failed(`${UNANSWERED_MAX} messages are not answered yet`);
    if (!this.#socket.send(message)) return failed('there is no connection');
    if (this.#options.ack === undefined) return Promise.resolve({ status: 'sent', traceId });
    return new Promise((resolve) => {
      const reason = `no answer within ${ANSWER_DELAY_MS_MAX} ms`;
      const cancel = this.#schedule(
        () => this.#settle({ status: 'failed', traceId, reason }),
        ANSWER_DELAY_MS_MAX,
      );
      this.#unanswered.set(traceId, (result) => {
        cancel();
        resolve(result);
      });
    });
  }

  /** Ends the connection permanently, and resolves when it is closed. Unanswered messages fail. */
  async close(): Promise<void> {
    await this.#socket.close();
    this.#failAll('closed');
  }

  #read(text: string): void {
    const reply = parseReply(text);
    if (reply === undefined) return;
    const { type, traceId, error, accepted, rejected, isInMemory } = reply;
    if (type === ERROR_TYPE) this.#options.onRejection?.({ traceId, error, rejected });
    if (traceId === undefined) return;
    // The requested answer follows, unless the service could not check the message asset by asset.
    if (type === ACK_TYPE)
      this.#settle({
        status: 'answered',
        traceId,
        accepted,
        rejected,
        ...(isInMemory && { durable: 'memory' }),
      });
    else if (Object.keys(rejected).length === 0)
      this.#settle({ status: 'failed', traceId, reason: serviceWords(error) });
  }

  #settle(result: PublishResult): void {
    const settle = this.#unanswered.get(result.traceId);
    this.#unanswered.delete(result.traceId);
    settle?.(result);
  }

  #failAll(reason: string): void {
    for (const traceId of [...this.#unanswered.keys()]) this.#settle({ status: 'failed', traceId, reason });
  }
}

interface Reply {
  readonly type: typeof ACK_TYPE | typeof ERROR_TYPE;
  readonly traceId: string | undefined;
  readonly error: string;
  readonly accepted: readonly string[];
  readonly rejected: Readonly<Record<string, string>>;
  readonly isInMemory: boolean;
}

/** Returns the bounded reasons of a reply. */
function reasonsOf(rejected: unknown): Record<string, string> {
  if (typeof rejected !== 'object' || rejected === null) return {};
  return bySymbol(
    Object.entries(rejected).map(([asset, reason]) => [
      asset,
      visibleText(String(reason), FOREIGN_CHARACTERS_MAX),
    ]),
  );
}

/** Reads a reply of the publisher socket. Returns `undefined` for any other text. */
function parseReply(text: string): Reply | undefined {
  let value: Record<string, unknown> | null;
  try {
    value = parseForeignJson(text) as Record<string, unknown> | null;
  } catch {
    return undefined;
  }
  const type = value?.['type'];
  if (type !== ACK_TYPE && type !== ERROR_TYPE) return undefined;
  const { trace_id, error, accepted, rejected, durable } = value as Record<string, unknown>;
  return {
    type,
    traceId: typeof trace_id === 'string' ? trace_id : undefined,
    error: typeof error === 'string' ? error : '',
    accepted: Array.isArray(accepted) ? accepted.map(String) : [],
    rejected: reasonsOf(rejected),
    isInMemory: durable === 'memory',
  };
}
