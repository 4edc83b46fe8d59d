import { formatDecimalPrice } from '../verify/decimal_price.js';

/**
 * The verdict on an operator's price. `agrees`: the price counts. `alone`: the price is valid, but too few operators agree. `differs`:
 * the price or its time is too far from the prices that agree. `old`, `ahead`: the price's time is too far before or after the wanted
 * time; for streams and `latest` the wanted time is now. `unverified`: the newest price failed a check, or no signer has signed the
 * operator's IDs. `equivocates`: the operator has signed two values for one asset and time, or two meanings of one ID, so none of its
 * prices counts. `shared key`: another operator's price has the same signer.
 * `silent`: the operator has sent no price. `unknown asset`: the operator does not have the symbol. `refused`: the operator refuses this
 * client. `down`: there is no connection.
 */
export type VoteVerdict =
  | 'agrees'
  | 'alone'
  | 'differs'
  | 'old'
  | 'ahead'
  | 'unverified'
  | 'equivocates'
  | 'shared key'
  | 'silent'
  | 'unknown asset'
  | 'refused'
  | 'down';

/** The vote of one operator on the price of a symbol. */
export interface OperatorVote {
  /** The name of the operator. */
  readonly operator: string;
  /** The part of the operator. */
  readonly verdict: VoteVerdict;
  /** The reason in a sentence; empty for `agrees`. */
  readonly reason: string;
  /** The operator's newest verified price, times 10^18; `undefined` without one. */
  readonly price: bigint | undefined;
  /** The time of the operator's newest verified price, in UNIX nanoseconds. */
  readonly timestampNs: bigint | undefined;
  /** The address that signed that price. */
  readonly signer: string | undefined;
  /** The base address of the service that sent that price. */
  readonly url: string | undefined;
}

/** The median of the verified prices of operators that agree. */
export class QuorumTick {
  readonly #nowMs: () => number;
  /** The symbol of the asset, such as `BTCUSD`. */
  readonly symbol: string;
  /**
   * The real price times 10^18: the median of the prices that agree. For an even number of prices, the median is the mean of the two
   * middle prices, rounded toward zero.
   */
  readonly price: bigint;
  /**
   * The median of the times of the prices that agree, in UNIX nanoseconds. For an even number of times, the median is the older of the
   * two middle times. In a stream the time never decreases.
   */
  readonly timestampNs: bigint;
  /** The addresses that signed the prices that agree, in the order of the operators. */
  readonly signers: readonly string[];
  /** The number of operators that agree, of all operators: `verified 2 of 3`. */
  readonly verdict: `verified ${number} of ${number}`;
  /** The part of each operator, in the order of the options. */
  readonly operators: readonly OperatorVote[];

  /** @internal */
  constructor(fields: Omit<QuorumTick, 'decimal' | 'ageMs'>, nowMs: () => number) {
    this.symbol = fields.symbol;
    this.price = fields.price;
    this.timestampNs = fields.timestampNs;
    this.signers = fields.signers;
    this.verdict = fields.verdict;
    this.operators = fields.operators;
    this.#nowMs = nowMs;
  }

  /** The exact real price as decimal text, such as `61000.5`. */
  get decimal(): string {
    return formatDecimalPrice(this.price);
  }

  /** The current age in whole milliseconds, by this machine's clock. */
  get ageMs(): number {
    return Math.round(this.#nowMs() - Number(this.timestampNs / 1_000n) / 1_000);
  }
}

/** The lack of a price: fewer operators than the threshold agree. */
export interface NoQuorumEvent {
  /** The symbol of the asset. */
  readonly symbol: string;
  /**
   * `few`: too few operators have a price that counts. `spread`: the prices differ too much. `split`: two groups of operators without a
   * common member reach the threshold, so nobody can tell which group is right.
   */
  readonly cause: 'few' | 'spread' | 'split';
  /** The reason in a sentence, with the part of each operator. */
  readonly reason: string;
  /** The part of each operator, in the order of the options. */
  readonly operators: readonly OperatorVote[];
}
