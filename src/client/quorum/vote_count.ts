import { formatDecimalPrice } from '../verify/decimal_price.js';
import {
  absolute,
  agreeing,
  type Disagreement,
  isNear,
  medianPrice,
  medianTimeNs,
  type TimedPrice,
} from './agreement.js';
import type { OperatorClient, QuorumRules } from './quorum_options.js';
import { type NoQuorumEvent, type OperatorVote, QuorumTick, type VoteVerdict } from './quorum_tick.js';

/** The newest verified price of an operator. */
export interface OperatorPrice extends TimedPrice {
  readonly signer: string;
  readonly url: string;
  /** The current age, by the client's estimate of the service's clock. */
  readonly ageMs: number;
}

/** The state of an operator, for one symbol. */
export interface Standing {
  readonly operator: string;
  readonly price: OperatorPrice | undefined;
  /** The newest fault. If the operator also has a price, the fault only explains why the price is old. */
  readonly fault: OperatorFault | undefined;
}

/** The reason why an operator may have no price. */
export interface OperatorFault {
  readonly verdict: Exclude<VoteVerdict, 'agrees' | 'alone' | 'differs' | 'ahead' | 'shared key'>;
  readonly reason: string;
}

/** Returns the fault of an operator that has signed contradicting prices. */
export function equivocationOf({ equivocation }: OperatorClient): OperatorFault | undefined {
  return equivocation && { verdict: 'equivocates', reason: equivocation.message };
}

/** The instant whose prices are wanted, and the clock that gives a tick's age. */
export interface VoteTime {
  /** UNIX milliseconds. */
  readonly atMs: number;
  /** The time up to which a price may be ahead of {@link atMs}. */
  readonly aheadMsMax: number;
  readonly nowMs: () => number;
}

/** Counts the operators' prices of a symbol. @returns the price of the quorum, or the reason why there is no price */
export function countVotes(
  symbol: string,
  standings: readonly Standing[],
  rules: QuorumRules,
  time: VoteTime,
): QuorumTick | NoQuorumEvent {
  const signers = new Set<string>();
  const judged = standings.map((standing) => judgeStanding(standing, signers, rules, time));
  const young = judged.filter((one) => one.isYoung).map(({ price }) => price!);
  const group = agreeing(young, rules);
  const isGroup = typeof group !== 'string';
  const operators = judged.map((one) => voteOf(one, group, rules));
  if (!isGroup) return noQuorum(symbol, group, operators, rules);
  const agree = operators.filter(({ verdict }) => verdict === 'agrees');
  return new QuorumTick(
    {
      symbol,
      price: medianPrice(group),
      timestampNs: medianTimeNs(group),
      signers: agree.map(({ signer }) => signer!),
      verdict: `verified ${agree.length} of ${operators.length}`,
      operators,
    },
    time.nowMs,
  );
}

interface JudgedStanding extends Standing {
  readonly isYoung: boolean;
  readonly verdict: VoteVerdict;
  readonly reason: string;
}

/**
 * Decides if an operator's price may count. @param signers the signers of earlier operators; the function adds this operator's signer
 */
function judgeStanding(
  standing: Standing,
  signers: Set<string>,
  { maxAgeMs }: QuorumRules,
  { atMs, aheadMsMax }: VoteTime,
): JudgedStanding {
  const { price, fault } = standing;
  const refuse = (verdict: VoteVerdict, reason: string) => ({ ...standing, isYoung: false, verdict, reason });
  if (fault?.verdict === 'equivocates') return refuse(fault.verdict, fault.reason);
  if (price === undefined) return refuse(fault?.verdict ?? 'silent', fault?.reason ?? 'no price has come');
  const madeMs = Number(price.timestampNs / 1_000n) / 1_000;
  const ageMs = Math.round(Math.max(atMs - madeMs, price.ageMs));
  if (ageMs > maxAgeMs)
    return refuse('old', `its price is ${ageMs} ms old${fault === undefined ? '' : `; ${fault.reason}`}`);
  const aheadMs = Math.round(madeMs - atMs);
  if (aheadMs > aheadMsMax) return refuse('ahead', `its time is ${aheadMs} ms after the wanted one`);
  const signer = price.signer.toLowerCase();
  if (signers.has(signer)) return refuse('shared key', 'an operator before it has the same signer');
  signers.add(signer);
  return { ...standing, isYoung: true, verdict: 'agrees', reason: '' };
}

/** @param group the prices that agree, or the reason why no prices agree */
function voteOf(
  { operator, price, isYoung, verdict, reason }: JudgedStanding,
  group: readonly OperatorPrice[] | Disagreement,
  rules: QuorumRules,
): OperatorVote {
  const { price: value, timestampNs, signer, url } = price ?? {};
  const fields = { operator, price: value, timestampNs, signer, url };
  if (!isYoung || group.includes(price as never)) return { ...fields, verdict, reason };
  if (group === 'few')
    return { ...fields, verdict: 'alone', reason: 'too few others have a price that counts' };
  const difference =
    typeof group === 'string'
      ? `its price is ${formatDecimalPrice(value!)}`
      : differenceOf(price!, medianPrice(group), rules);
  return { ...fields, verdict: 'differs', reason: difference };
}

const BASIS_POINTS = 10_000n;

function differenceOf(
  { price }: OperatorPrice,
  median: bigint,
  { maxSpread, maxAgeMs }: QuorumRules,
): string {
  if (isNear(price, median, maxSpread)) return `its price or time fits fewer others; maxAgeMs is ${maxAgeMs}`;
  const difference = price - median;
  const shown = `its price ${formatDecimalPrice(price)} is`;
  if (median === 0n) return `${shown} not 0`;
  const size = (absolute(difference) * BASIS_POINTS) / absolute(median);
  const percent = `${size / 100n}.${String(size % 100n).padStart(2, '0')}`;
  return `${shown} ${percent} % ${difference < 0n ? 'below' : 'above'} the median`;
}

function noQuorum(
  symbol: string,
  cause: Disagreement,
  operators: readonly OperatorVote[],
  { threshold }: QuorumRules,
): NoQuorumEvent {
  const causes = {
    few: `fewer than ${threshold} operators have a price that counts`,
    spread: `no ${threshold} operators agree`,
    split: `two groups of ${threshold} or more operators disagree`,
  };
  const parts = operators.map(
    ({ operator, verdict, reason }) => `${operator} ${verdict}${reason === '' ? '' : `: ${reason}`}`,
  );
  return { symbol, cause, reason: `${causes[cause]} (${parts.join('; ')})`, operators };
}
