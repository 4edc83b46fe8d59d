import { SharedRoom } from '../../model/shared_room.js';
import type { CallerName } from '../../prices/caller_name.js';
import type { PackedMessage, ReadMessage } from '../../prices/message.js';
import { packMessage } from '../../prices/packed_message.js';
import {
  type PublisherSession,
  type PublishOutcome,
  type PublishReceiver,
  TOO_MANY_WAIT,
} from '../../prices/publisher_session.js';
import { type Bus, MESSAGE_BYTES_MAX } from '../bus.js';
import { submitTopic } from '../subjects.js';
import { decodeOutcome, encodeSubmit } from './submit.js';

/** The largest number of unanswered messages per connection. */
const UNANSWERED_MAX = 1_000;
/** The largest total size of unanswered messages of all callers. */
const UNANSWERED_BYTES_MAX = 16 * 1024 * 1024;
/** The size that each message counts in addition to its text. */
const MESSAGE_BYTES = 256;
/**
 * The time limit for repeating a message. A durable message waits while the servers elect the leader of the log, and while the leading
 * node's server is cut off from the other servers. The second wait lasts at most `cluster.tick_lease`, by default 12 s.
 */
const UNANSWERED_MS_MAX = 3_000;
const DURABLE_MS_MAX = 15_000;
const ANSWER_MS_MAX = 300;
const RETRY_MS = 100;

const NO_ANSWER = 'no answer from the node that makes prices: the updates may have been taken';

export interface ForwarderOptions {
  readonly bus: Pick<Bus, 'ask'>;
  /** The number of this node. */
  readonly node: number;
  /** A random text that only this process knows. The names of all its sessions begin with this text. */
  readonly secret: string;
  /** Returns the epoch of the leading node, which may be this node; `undefined` while no leader is known. */
  readonly epoch: () => number | undefined;
  readonly nameOf: (session: PublisherSession) => CallerName;
  readonly nowMs: () => number;
}

interface Unanswered {
  readonly number: number;
  readonly message: PackedMessage;
  /**
   * The caller and the size that {@link SharedRoom} counted for the message. They are kept here, because a reload before the answer may
   * rename a token.
   */
  readonly caller: string;
  readonly bytes: number;
  readonly untilMs: number;
  readonly settle: (outcome: PublishOutcome) => void;
  /** The number of attempts to send the message. */
  attempts: number;
}

interface PublisherQueue {
  readonly name: string;
  readonly session: PublisherSession;
  count: number;
  isClosed: boolean;
  /** The unanswered messages, in order. */
  readonly unanswered: Map<number, Unanswered>;
  /** The epoch whose leader received the messages. */
  epoch: number | undefined;
  /** The time at which all unanswered messages are sent again; `undefined` while an answer may still arrive. */
  againMs: number | undefined;
}

/**
 * Sends publishers' messages to the leading node, in order, and keeps each message until the leader answers. When an answer is missing, or
 * when another node leads, the forwarder sends all unanswered messages of the connection again, in order.
 */
export class Forwarder implements PublishReceiver {
  readonly #options: ForwarderOptions;
  readonly #lanes = new Map<PublisherSession, PublisherQueue>();
  readonly #room = new SharedRoom(UNANSWERED_BYTES_MAX);
  #laneCount = 0;
  #unansweredCount = 0;

  constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  receive(session: PublisherSession, message: ReadMessage): PublishOutcome | Promise<PublishOutcome> {
    const { identity } = session.rights;
    const lane = this.#laneOf(session);
    const bytes = MESSAGE_BYTES + message.length;
    if (lane.unanswered.size >= UNANSWERED_MAX || !this.#room.hasRoom(identity, bytes))
      return { ok: false, traceId: message.traceId, error: TOO_MANY_WAIT };
    this.#room.add(identity, bytes);
    return new Promise((resolve) => {
      const waitMs = session.isDurable ? DURABLE_MS_MAX : UNANSWERED_MS_MAX;
      const entry: Unanswered = {
        number: ++lane.count,
        message: packMessage(message),
        caller: identity,
        bytes,
        untilMs: this.#options.nowMs() + waitMs,
        settle: resolve,
        attempts: message.again === true ? 1 : 0,
      };
      lane.unanswered.set(entry.number, entry);
      this.#unansweredCount++;
      if (lane.againMs !== undefined) return;
      if (lane.epoch !== undefined && lane.epoch === this.#options.epoch()) this.#send(lane, entry);
      else this.#sendAll(lane);
    });
  }

  closed(session: PublisherSession): void {
    const lane = this.#lanes.get(session);
    if (lane === undefined) return;
    // The last messages of a closed session still take effect.
    lane.isClosed = true;
    if (lane.unanswered.size === 0) this.#lanes.delete(session);
  }

  tick(nowMs: number): void {
    if (this.#unansweredCount === 0) return;
    const epoch = this.#options.epoch();
    for (const lane of this.#lanes.values()) {
      for (const entry of lane.unanswered.values())
        if (nowMs >= entry.untilMs)
          this.#settle(lane, entry, { ok: false, traceId: entry.message.traceId, error: NO_ANSWER });
      const isDue = lane.againMs !== undefined && nowMs >= lane.againMs;
      if (lane.unanswered.size > 0 && epoch !== undefined && (isDue || lane.epoch !== epoch))
        this.#sendAll(lane);
    }
  }

  /** Returns whether the connection has unanswered messages. If so, its next message must wait behind them. */
  isWaiting(session: PublisherSession): boolean {
    return (this.#lanes.get(session)?.unanswered.size ?? 0) > 0;
  }

  /** The number of unanswered messages. */
  get unansweredCount(): number {
    return this.#unansweredCount;
  }

  nextDueMs(): number {
    return this.#unansweredCount === 0 ? Number.POSITIVE_INFINITY : this.#options.nowMs() + RETRY_MS;
  }

  #laneOf(session: PublisherSession): PublisherQueue {
    let lane = this.#lanes.get(session);
    if (lane === undefined) {
      const name = `${this.#options.secret}/${++this.#laneCount}`;
      lane = {
        name,
        session,
        count: 0,
        isClosed: false,
        unanswered: new Map(),
        epoch: undefined,
        againMs: undefined,
      };
      this.#lanes.set(session, lane);
    }
    return lane;
  }

  #sendAll(lane: PublisherQueue): void {
    lane.epoch = this.#options.epoch();
    lane.againMs = undefined;
    if (lane.epoch === undefined) return;
    for (const entry of lane.unanswered.values()) this.#send(lane, entry);
  }

  #send(lane: PublisherQueue, entry: Unanswered): void {
    const { bus, node, nameOf, nowMs } = this.#options;
    const { name, session, epoch } = lane;
    const attempt = ++entry.attempts;
    const bytes = encodeSubmit({
      session: name,
      number: entry.number,
      oldest: lane.unanswered.keys().next().value!,
      again: attempt > 1,
      durable: session.isDurable,
      type: session.type,
      caller: nameOf(session),
      message: entry.message,
    });
    if (bytes.length > MESSAGE_BYTES_MAX) {
      const error = `the message has ${bytes.length} bytes for the node that makes prices, which takes ${MESSAGE_BYTES_MAX} at most: send fewer updates in a message`;
      this.#settle(lane, entry, { ok: false, traceId: entry.message.traceId, error });
      return;
    }
    bus
      .ask(submitTopic(node, epoch!), bytes, ANSWER_MS_MAX)
      // After a change of leader, only the new leader's answer counts. The previous leader may have compared the message with updates that
      // were lost.
      .then((answer) => lane.epoch === epoch && this.#settle(lane, entry, decodeOutcome(answer)))
      .catch(() => {
        if (entry.attempts === attempt) lane.againMs ??= nowMs() + RETRY_MS;
      });
  }

  /** Settles a message with its first answer. A message that was sent twice may receive two answers. */
  #settle(lane: PublisherQueue, entry: Unanswered, outcome: PublishOutcome): void {
    if (!lane.unanswered.delete(entry.number)) return;
    this.#unansweredCount--;
    this.#room.add(entry.caller, -entry.bytes);
    if (lane.isClosed && lane.unanswered.size === 0) this.#lanes.delete(lane.session);
    entry.settle(outcome);
  }
}
