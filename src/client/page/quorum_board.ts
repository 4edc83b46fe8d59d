import type { EquivocationError, NoQuorumEvent, OperatorVote, QuorumTick, VoteVerdict } from '../index.js';
import { plainReason } from './plain_reason.js';

/** A symbol as the page shows it. */
export interface QuorumRow {
  readonly symbol: string;
  /** The median; `undefined` while too few operators agree. */
  readonly price: bigint | undefined;
  readonly ageMs: number | undefined;
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

/** The proof that an operator has signed two prices for one time. */
export type Accusation = Pick<EquivocationError, 'message' | 'evidence'>;

/** The reason why an operator does not answer. */
export interface AnswerFault {
  readonly verdict: 'refused' | 'down';
  readonly reason: string;
}

/** The words for a vote. */
export const VOTE_TEXTS: Readonly<Record<VoteVerdict, string>> = {
  agrees: 'agrees',
  alone: 'alone: too few others to compare',
  differs: 'deviates',
  old: 'stale',
  ahead: 'clock is ahead',
  unverified: 'failed its check',
  equivocates: 'signed two prices for one time',
  'shared key': 'shares a key',
  silent: 'no price yet',
  'unknown asset': 'does not have it',
  refused: 'refuses the token',
  down: 'unreachable',
};
/** The verdicts of an operator, the most serious verdict first. */
const BY_WEIGHT: readonly VoteVerdict[] = [
  'equivocates',
  'refused',
  'down',
  'unverified',
  'differs',
  'shared key',
  'ahead',
  'old',
  'silent',
  'alone',
  'unknown asset',
  'agrees',
];
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
  readonly #faults = new Map<string, AnswerFault>();
  readonly #blocked = new Set<string>();
  readonly #accused = new Map<string, Accusation>();

  /** @param operators the names of the operators @param maxAgeMs the largest age of a price */
  constructor(operators: readonly string[], maxAgeMs: number) {
    this.#operators = operators;
    this.#maxAgeMs = maxAgeMs;
  }

  /** Stores the newest count of a symbol: a price, or the reason why there is none. */
  take(count: QuorumTick | NoQuorumEvent): void {
    this.#counts.set(count.symbol, count);
  }

  /** Records the reason why an operator does not list its assets. @param fault `undefined` after an answer */
  noteAnswer(operator: string, fault: AnswerFault | undefined): void {
    if (fault === undefined) this.#faults.delete(operator);
    else this.#faults.set(operator, fault);
  }

  /** Forgets a symbol that is no longer shown. */
  forget(symbol: string): void {
    this.#counts.delete(symbol);
  }

  /** Records that the page's policy does not allow a connection to this operator. */
  block(operator: string): void {
    this.#blocked.add(operator);
  }

  /** Records a proof against an operator. */
  accuse(operator: string, accusation: Accusation): void {
    this.#accused.set(operator, accusation);
  }

  row(symbol: string): QuorumRow {
    const count = this.#counts.get(symbol);
    if (count === undefined)
      return { symbol, price: undefined, ageMs: undefined, agreeing: 0, votes: [], reason: 'waiting' };
    const { operators: votes } = count;
    const agreeing = votes.filter(({ verdict }) => verdict === 'agrees').length;
    if ('cause' in count)
      return { symbol, price: undefined, ageMs: undefined, agreeing, votes, reason: CAUSES[count.cause] };
    const { price, ageMs } = count;
    // After the computer slept, the price may be older than the limit, because the client has not counted the prices again yet.
    if (ageMs > this.#maxAgeMs)
      return { symbol, price: undefined, ageMs, agreeing: 0, votes: [], reason: 'the price is too old' };
    return { symbol, price, ageMs, agreeing, votes, reason: '' };
  }

  /** Returns the state of each operator: the most serious verdict, with the number of symbols that have it. */
  operators(): readonly OperatorState[] {
    const counts = [...this.#counts.values()];
    return this.#operators.map((name, i) => {
      const accusation = this.#accused.get(name);
      if (accusation !== undefined) {
        const text = `${VOTE_TEXTS.equivocates}: ${accusation.message}`;
        return { name, verdict: 'equivocates', text, evidence: accusation.evidence };
      }
      if (this.#blocked.has(name))
        return {
          name,
          verdict: 'down',
          text: 'not allowed: listen.page_operators of this page does not name it',
        };
      const fault = this.#faults.get(name);
      if (fault !== undefined)
        return { name, verdict: fault.verdict, text: `${VOTE_TEXTS[fault.verdict]}: ${fault.reason}` };
      const votes = counts.map(({ operators }) => operators[i]!);
      const verdict = BY_WEIGHT.find((one) => votes.some((vote) => vote.verdict === one)) ?? 'silent';
      const same = votes.filter((vote) => vote.verdict === verdict);
      return { name, verdict, text: stateText(verdict, same, votes.length) };
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
