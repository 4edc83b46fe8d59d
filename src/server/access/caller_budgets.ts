import type { Limits } from '../../config/config.js';
import { type Budget, type BudgetRate, SharedBudget } from '../../model/budget.js';
import { CLOSED_CONTROL_COST } from '../../model/control_count.js';
import { signedFrameCost } from '../../stream/frame_budgets.js';
import type { ReaderBudgets } from '../../stream/reader_session.js';
import type { Caller } from './logins.js';
import { PerCaller } from './per_caller.js';
import type { CallerCounts } from './shared_access.js';

/** The keys of `limits` for the budgets of a caller. A caller is a token, or a publisher key that logged in with a signature. */
export const BUDGET_KEYS = [
  'signed_frames_per_second',
  'subscription_changes_per_second',
  'control_messages_per_second',
  'publish_bytes_per_second',
  'bad_messages_per_second',
  'range_rows_per_second',
] as const;
export type BudgetKey = (typeof BUDGET_KEYS)[number];

/** The budgets of publishers' messages. */
export interface PublisherBudgets extends Pick<ReaderBudgets, 'controlMessages'> {
  /** The budget in bytes of messages. */
  readonly publishBytes: Budget;
  /** The budget of messages that the service refuses as a whole. */
  readonly badMessages: Budget;
}

/** The budgets of a caller for all of its connections together. */
export interface CallerBudgets extends ReaderBudgets, PublisherBudgets {
  /** The budget of past aggregates that the service reads. */
  readonly rangeRows: Budget;
}

export type BudgetLimits = Pick<
  Limits,
  | 'signedFramesPerSecond'
  | 'subscriptionChangesPerSecond'
  | 'controlMessagesPerSecond'
  | 'connectionsPerToken'
  | 'publishConnectionsPerToken'
  | 'publishBytesPerSecond'
  | 'badMessagesPerSecond'
  | 'rangeRowsPerSecond'
  | 'publishMessageBytes'
  | 'subscriptionsPerConnection'
>;

/**
 * The burst of signed frames, in seconds. The burst must let large groups on a slow channel tick together, but a long burst of one caller
 * would fill many ticks.
 */
const SIGNED_FRAMES_BURST_S = 0.1;

/** The largest number of rows that a request for the past can pay for at once. */
export const ROWS_AT_ONCE_MAX = 512;

/** The budgets of all callers. */
export class BudgetDirectory {
  readonly #rates: Readonly<Record<BudgetKey, BudgetRate>>;
  readonly #publishConnectionsMax: number;
  readonly #publishMessageBytes: number;
  readonly #counts: CallerCounts;
  readonly #onRefusal: (key: BudgetKey, callerName: string) => void;
  readonly #budgets = new PerCaller((caller) => this.#open(caller));

  /**
   * @param counts the counts of callers; their memory contains the budgets, which all threads share
   * @param onRefusal called after each refusal for lack of budget
   */
  constructor(
    limits: BudgetLimits,
    counts: CallerCounts,
    onRefusal: (key: BudgetKey, callerName: string) => void,
  ) {
    this.#rates = ratesOf(limits);
    this.#publishConnectionsMax = limits.publishConnectionsPerToken;
    this.#publishMessageBytes = limits.publishMessageBytes;
    this.#counts = counts;
    this.#onRefusal = onRefusal;
  }

  of(caller: Caller): CallerBudgets {
    return this.#budgets.of(caller);
  }

  /**
   * Returns the budgets of one publisher's connection alone: an equal share of its key's budgets, if the key had as many connections as it
   * may have.
   */
  ofConnection({ name }: Caller): PublisherBudgets {
    const words = new BigInt64Array(BUDGET_KEYS.length);
    const open = (key: BudgetKey, burstMin = 1) => {
      const { perSecond, burst } = this.#rates[key];
      const rate = {
        perSecond: perSecond / this.#publishConnectionsMax,
        burst: Math.max(burstMin, burst / this.#publishConnectionsMax),
      };
      return new SharedBudget(words, BUDGET_KEYS.indexOf(key), rate, () => this.#onRefusal(key, name));
    };
    return {
      publishBytes: open('publish_bytes_per_second', this.#publishMessageBytes),
      badMessages: open('bad_messages_per_second'),
      controlMessages: open('control_messages_per_second'),
    };
  }

  #open({ identity, name: callerName }: Caller): CallerBudgets {
    const { budgets: words } = this.#counts;
    const first = this.#counts.placeOfBudgets(this.#counts.placeOf(identity));
    const open = (key: BudgetKey) =>
      new SharedBudget(words, first + BUDGET_KEYS.indexOf(key), this.#rates[key], () =>
        this.#onRefusal(key, callerName),
      );
    return {
      signedFrames: open('signed_frames_per_second'),
      subscriptionChanges: open('subscription_changes_per_second'),
      controlMessages: open('control_messages_per_second'),
      publishBytes: open('publish_bytes_per_second'),
      badMessages: open('bad_messages_per_second'),
      rangeRows: open('range_rows_per_second'),
    };
  }
}

/** Returns the rates. The most expensive single operation fits into a burst. */
function ratesOf(limits: BudgetLimits): Readonly<Record<BudgetKey, BudgetRate>> {
  const rate = (perSecond: number, largestCost: number, burst = perSecond): BudgetRate => ({
    perSecond,
    burst: Math.max(burst, largestCost),
  });
  const signed = limits.signedFramesPerSecond * signedFrameCost(1);
  const control = limits.controlMessagesPerSecond * limits.connectionsPerToken;
  const closed = limits.controlMessagesPerSecond * CLOSED_CONTROL_COST;
  return {
    signed_frames_per_second: rate(
      signed,
      signedFrameCost(limits.subscriptionsPerConnection),
      signed * SIGNED_FRAMES_BURST_S,
    ),
    subscription_changes_per_second: rate(limits.subscriptionChangesPerSecond, 1),
    // After all connections have sent their allowed messages, the burst still has budget for closing connections.
    control_messages_per_second: rate(control, closed, control + closed),
    publish_bytes_per_second: rate(limits.publishBytesPerSecond, limits.publishMessageBytes),
    bad_messages_per_second: rate(limits.badMessagesPerSecond, 1),
    range_rows_per_second: rate(limits.rangeRowsPerSecond, ROWS_AT_ONCE_MAX),
  };
}
