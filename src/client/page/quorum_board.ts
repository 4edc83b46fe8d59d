import type { EquivocationError, NoQuorumEvent, OperatorVote, QuorumTick, VoteVerdict } from '../index.js';
import { plainReason } from './plain_reason.js';

/** A symbol as the page shows it. */
export interface QuorumRow {
  readonly symbol: string;
  /** The median; `undefined` while too few operators agree. */
  readonly price: bigint | undefined;
  /** The number of operators that agree. */
  readonly agreeing: number;
  /** The operators' votes, in the order of the link; empty before the first count. */
  readonly votes: readonly OperatorVote[];
  /** The reason why there is no price; empty beside a price. */
  readonly reason: string;
}

/** The state of an operator over all shown symbols. */
export interface OperatorState {
  readonly name: string;
  readonly verdict: VoteVerdict;
  /** The verdict and its reason in plain words. */
  readonly text: string;
  /** The text of an evidence file, for an operator that has signed two prices for one time. */
  readonly evidence?: string;
}

/** The words for a vote, the most serious verdict first. */
export const VOTE_TEXTS: Readonly<Record<VoteVerdict, string>> = {
  equivocates: 'signed two prices for one time',
  refused: 'refuses the token',
  down: 'unreachable',
  unverified: 'failed its check',
  differs: 'deviates',
  'shared key': 'shares a key',
  ahead: 'clock is ahead',
  old: 'stale',
  silent: 'no price yet',
  alone: 'alone: too few others to compare',
  'unknown asset': 'does not have it',
  agrees: 'agrees',
};
const BY_WEIGHT = Object.keys(VOTE_TEXTS) as VoteVerdict[];
const CAUSES: Readonly<Record<NoQuorumEvent['cause'], string>> = {
  few: 'too few operators have a price that counts',
  spread: 'the operators disagree',
  split: 'two groups of operators disagree',
};

/** The newest count of each symbol. */
export class QuorumBoard {
  readonly #operators: readonly string[];
  readonly #maxAgeMs: number;
  readonly #counts = new Map<string, QuorumTick | NoQuorumEvent>();
  /** The states of operators that do not follow from votes, by the names of the operators. */
  readonly #faults = new Map<string, OperatorState>();
  readonly #blocked = new Set<string>();

  /** @param operators the names of the operators @param maxAgeMs the largest age of a price */
  constructor(operators: readonly string[], maxAgeMs: number) {
    this.#operators = operators;
    this.#maxAgeMs = maxAgeMs;
  }

  /** Stores the newest count of a symbol: a price, or the reason why there is none. */
  take(count: QuorumTick | NoQuorumEvent): void {
    this.#counts.set(count.symbol, count);
  }

  /** Forgets a symbol that is no longer shown. */
  forget(symbol: string): void {
    this.#counts.delete(symbol);
  }

  /** Records the reason why an operator does not list its assets. @param verdict `undefined` after an answer */
  noteAnswer(name: string, verdict?: 'refused' | 'down', reason = ''): void {
    if (verdict !== undefined) this.#noteFault({ name, verdict, text: `${VOTE_TEXTS[verdict]}: ${reason}` });
    else if (this.#faults.get(name)?.evidence === undefined) this.#faults.delete(name);
  }

  /** Records that the page's policy does not allow a connection to this operator. */
  block(name: string): void {
    const text = 'not allowed: listen.page_operators of this page does not name it';
    this.#noteFault({ name, verdict: 'down', text });
    this.#blocked.add(name);
  }

  /** Records a proof against an operator, which outweighs every other state. */
  accuse(name: string, { message, evidence }: Pick<EquivocationError, 'message' | 'evidence'>): void {
    this.#noteFault({
      name,
      verdict: 'equivocates',
      text: `${VOTE_TEXTS.equivocates}: ${message}`,
      evidence,
    });
  }

  #noteFault(state: OperatorState): void {
    const { name, evidence } = state;
    const isFinal = this.#blocked.has(name) || this.#faults.get(name)?.evidence !== undefined;
    if (!isFinal || evidence !== undefined) this.#faults.set(name, state);
  }

  row(symbol: string): QuorumRow {
    const count = this.#counts.get(symbol);
    const none = { symbol, price: undefined, agreeing: 0, votes: [] };
    if (count === undefined) return { ...none, reason: 'waiting' };
    const { operators: votes } = count;
    const agreeing = votes.filter(({ verdict }) => verdict === 'agrees').length;
    if ('cause' in count) return { ...none, agreeing, votes, reason: CAUSES[count.cause] };
    // After the computer slept, the price may be older than the limit, because the client has not counted the prices again yet.
    if (count.ageMs > this.#maxAgeMs) return { ...none, reason: 'the price is too old' };
    return { symbol, price: count.price, agreeing, votes, reason: '' };
  }

  /** Returns the state of each operator: the most serious verdict, with the number of symbols that have it. */
  operators(): readonly OperatorState[] {
    return this.#operators.map((name, i) => {
      const votes = [...this.#counts.values()].map(({ operators }) => operators[i]!);
      const verdict = BY_WEIGHT.find((one) => votes.some((vote) => vote.verdict === one)) ?? 'silent';
      const same = votes.filter((vote) => vote.verdict === verdict);
      return this.#faults.get(name) ?? { name, verdict, text: stateText(verdict, same, votes.length) };
    });
  }
}

/** Describes a vote: the verdict and its reason. */
export function voteText({ verdict, reason }: OperatorVote): string {
  const words = VOTE_TEXTS[verdict];
  return reason === '' || verdict === 'alone' || verdict === 'silent'
    ? words
    : `${words}: ${plainReason(reason)}`;
}

function stateText(verdict: VoteVerdict, same: readonly OperatorVote[], all: number): string {
  const [first] = same;
  if (first === undefined) return VOTE_TEXTS.silent;
  // A lost connection and a refusal apply to every symbol.
  const applies =
    verdict === 'down' || verdict === 'refused' || all === 1 ? '' : ` · ${same.length} of ${all} assets`;
  return `${voteText(first)}${applies}`;
}
