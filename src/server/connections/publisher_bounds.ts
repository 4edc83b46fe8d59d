import { CLOSED_CONTROL_COST, type ControlCount, countControl } from '../../model/control_count.js';
import { type Clock, secondOf } from '../../model/time.js';
import type { PublishOutcome } from '../../prices/publisher_session.js';
import { CLOSES } from '../../wire/close_codes.js';
import type { BudgetDirectory, PublisherBudgets } from '../access/caller_budgets.js';
import type { Caller } from '../access/logins.js';
import { PerCaller } from '../access/per_caller.js';
import type { Connection } from './connection.js';

export interface PublisherBoundsOptions {
  readonly clock: Clock;
  readonly budgets: BudgetDirectory;
  readonly publishBytesPerSecondMax: number;
  readonly controlMessagesPerSecondMax: number;
  readonly badMessagesPerSecondMax: number;
  readonly messageBytesMax: number;
}

/**
 * The size of the parts in which bad messages are counted. A bad message counts once for each started part, because receiving a long
 * message takes more time.
 */
const BAD_MESSAGE_BYTES = 64 * 1024;

/**
 * The minimum cost of a message in bytes. Each message takes some time, even if the message is short. A message with one signed
 * price is longer than this minimum.
 */
const PUBLISH_BYTES_MIN = 512;

/**
 * The longest message that the service reads while the caller's signatures are not verified. The service refuses the updates of
 * such a message one by one.
 */
const READ_UNVERIFIED_BYTES_MAX = 64 * 1024;

/** The reason why a message is not read. */
export interface Unread {
  /** The reason for the metrics: one of a few fixed texts. */
  readonly reason: string;
  /** The text for the publisher. */
  readonly error: string;
  readonly isBad: boolean;
}

/** The {@link PublisherBounds} of all callers on a thread. */
export class PublisherBoundsDirectory {
  readonly #options: PublisherBoundsOptions;
  readonly #bounds: PerCaller<PublisherBounds>;

  constructor(options: PublisherBoundsOptions) {
    this.#options = options;
    this.#bounds = new PerCaller((caller) => new PublisherBounds(options.budgets.of(caller), options));
  }

  of(caller: Caller): PublisherBounds {
    return this.#bounds.of(caller);
  }

  /** Returns bounds for one connection alone. */
  ofConnection(caller: Caller): PublisherBounds {
    return new PublisherBounds(this.#options.budgets.ofConnection(caller), this.#options);
  }
}

/** The bounds on the messages of one caller, or of one connection. */
export class PublisherBounds {
  readonly #budgets: PublisherBudgets;
  readonly #options: PublisherBoundsOptions;
  /** The UNIX second in which the caller's signatures are verified again. */
  #verifiedFromS = 0n;

  constructor(budgets: PublisherBudgets, options: PublisherBoundsOptions) {
    this.#budgets = budgets;
    this.#options = options;
  }

  /**
   * Returns whether the caller may connect. While the caller has less than half of its budget of bad messages, each connection
   * pays for the longest message in advance. Otherwise a caller could open all of its closed connections again, and send a bad
   * message on each.
   */
  admitConnection(): boolean {
    const { clock, badMessagesPerSecondMax, messageBytesMax } = this.#options;
    const { badMessages } = this.#budgets;
    const nowNs = clock.nowNs();
    if (
      badMessages.has(badMessagesPerSecondMax / 2, nowNs) ||
      badMessages.take(costOf(messageBytesMax), nowNs)
    )
      return true;
    badMessages.countRefusal();
    return false;
  }

  /**
   * Counts a ping in any form, and closes a connection that sends too many pings.
   * @returns true if the service should answer the ping
   */
  takePing(socket: Connection, count: ControlCount): boolean {
    const { clock, controlMessagesPerSecondMax } = this.#options;
    const { controlMessages } = this.#budgets;
    const nowNs = clock.nowNs();
    const left = countControl(count, controlMessagesPerSecondMax, Number(secondOf(nowNs)));
    if (left >= 0 && controlMessages.take(1, nowNs)) return true;
    controlMessages.owe(CLOSED_CONTROL_COST * controlMessagesPerSecondMax, nowNs);
    controlMessages.countRefusal();
    socket.close(CLOSES.controlFlood.code, CLOSES.controlFlood.reason);
    return false;
  }

  /** Takes a message from the caller's budget. @returns the reason for not reading the message, or `undefined` */
  take(text: string): Unread | undefined {
    const { clock, publishBytesPerSecondMax } = this.#options;
    const { publishBytes } = this.#budgets;
    const nowNs = clock.nowNs();
    if (!publishBytes.take(Math.max(Buffer.byteLength(text), PUBLISH_BYTES_MIN), nowNs)) {
      publishBytes.countRefusal();
      const error = `the token has sent more than publish_bytes_per_second (${publishBytesPerSecondMax}): not read`;
      return { reason: 'past publish_bytes_per_second', error, isBad: true };
    }
    // A value other than the next second was stored before the clock went back.
    const isUnverified = secondOf(nowNs) + 1n === this.#verifiedFromS;
    if (isUnverified && text.length > READ_UNVERIFIED_BYTES_MAX)
      return { reason: UNVERIFIED, error: UNVERIFIED, isBad: false };
    return undefined;
  }

  /** Stores the second in which the caller's signatures are verified again, if the outcome contains this second. */
  note(outcome: PublishOutcome): void {
    if (outcome.ok && outcome.verifiedFromS !== undefined) this.#verifiedFromS = outcome.verifiedFromS;
  }

  /** Counts a refused message, and closes its connection when the caller has sent too many refused messages. */
  countBad(socket: Connection, messageBytes: number): void {
    const { badMessages } = this.#budgets;
    const cost = costOf(messageBytes);
    const nowNs = this.#options.clock.nowNs();
    if (badMessages.take(cost, nowNs)) return;
    badMessages.owe(cost, nowNs);
    badMessages.countRefusal();
    socket.close(CLOSES.refusedMessages.code, CLOSES.refusedMessages.reason);
  }
}

const UNVERIFIED = 'too many bad signatures of this token or key: not read';

function costOf(messageBytes: number): number {
  return Math.max(1, Math.ceil(messageBytes / BAD_MESSAGE_BYTES));
}
