import type { NoQuorumEvent, OperatorVote, QuorumTick, VoteVerdict } from '../index.js';
import { plainReason } from './plain_reason.js';

/** The newest count of a symbol: a price, or the reason why there is none. */
export type Count = QuorumTick | NoQuorumEvent;

/** The words for a vote. */
const VOTE_TEXTS: Readonly<Record<VoteVerdict, string>> = {
  equivocates: 'signed two prices for one time',
  refused: 'refuses the token',
  down: 'unreachable, or listen.page_operators of this page does not name it',
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
const CAUSES: Readonly<Record<NoQuorumEvent['cause'], string>> = {
  few: 'too few operators have a price that counts',
  spread: 'the operators disagree',
  split: 'two groups of operators disagree',
};

/** Returns the median of a count; `undefined` while too few operators agree. */
export function medianOf(count: Count | undefined, maxAgeMs: number): bigint | undefined {
  // After the computer slept, the price may be older than the limit, because the client has not counted the prices again yet.
  return count === undefined || 'cause' in count || count.ageMs > maxAgeMs ? undefined : count.price;
}

/** Returns the reason why a count has no median. */
export function reasonOf(count: Count | undefined): string {
  if (count === undefined) return 'waiting';
  return 'cause' in count ? CAUSES[count.cause] : 'the price is too old';
}

/** Describes a vote: the verdict and its reason. */
export function voteText({ verdict, reason }: OperatorVote): string {
  const words = VOTE_TEXTS[verdict];
  const isClear = reason === '' || ['alone', 'silent', 'down'].includes(verdict);
  return isClear ? words : `${words}: ${plainReason(reason)}`;
}
