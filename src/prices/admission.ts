import { secondOf, type TimeNs } from '../model/time.js';
import type { Candidate, Gate } from './gate.js';
import type { ReadMessage } from './message.js';
import { isUnproven, type PublisherSession } from './publisher_session.js';
import type { Rejections } from './rejections.js';
import { SignatureThrottle } from './signature_throttle.js';
import { BAD_SIGNATURE } from './update_verifier.js';

/** The part of a message that goes to verification. */
export interface Admitted {
  readonly candidates: readonly Candidate[];
  /**
   * Receives one entry for each candidate, in the order of the candidates: the reason for a refusal, or `undefined`. Also receives
   * the current UNIX second.
   * @returns the second from which the service verifies the caller's signatures again; `undefined` if the service did not stop
   * verifying them
   */
  settle(refusals: readonly (string | undefined)[], second: bigint): bigint | undefined;
}

/** The number of updates that may wait for their verdicts: about a second of work for one core. */
const UPDATES_WAITING_MAX = 20_000;

/** The number of callers above which this class forgets callers without recent bad signatures. */
const USES_KEPT_MAX = 1_000;

const OVERLOADED = 'overloaded: too many updates wait for verification';
const THROTTLED = 'too many bad signatures of this token or key: not verified';

/** The part of the verification budget that one caller has used, over all connections of the caller. */
interface BudgetUse {
  readonly throttle: SignatureThrottle;
  /** The number of the caller's updates that wait for their verdicts. */
  waiting: number;
}

/**
 * Passes updates through the gate and limits the number of updates that wait for curve arithmetic. One limit applies to all callers
 * together. Another limit applies to each caller, and depends on the caller's number of bad signatures.
 *
 * A caller may have as many waiting updates as places are free. So one caller that floods gets half of all places, two such callers
 * get a third each, and so on. A caller with few waiting updates therefore always finds a free place. The connections of one caller
 * share the caller's places by the same rule.
 */
export class Admission {
  readonly #gate: Gate;
  readonly #badSignaturesPerSecondMax: number;
  /** Budget uses by the identity of the caller. */
  readonly #uses = new Map<string, BudgetUse>();
  /** The budget uses of connections that are not proven, so that none of them can use up the budget of the key's holder. */
  readonly #unprovenUses = new WeakMap<PublisherSession, BudgetUse>();
  /** The number of waiting updates by connection. */
  readonly #waitingOf = new WeakMap<PublisherSession, number>();
  #waiting = 0;

  constructor(gate: Gate, badSignaturesPerSecondMax: number) {
    this.#gate = gate;
    this.#badSignaturesPerSecondMax = badSignaturesPerSecondMax;
  }

  /** The number of updates that wait for their verdicts. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Admits updates. An admitted update waits until its verdict arrives.
   * @param rejections receives the updates that are not admitted
   */
  admit(
    { updates, again }: ReadMessage,
    session: PublisherSession,
    rejections: Rejections,
    nowNs: TimeNs,
  ): Admitted {
    const second = secondOf(nowNs);
    const use = this.#useOf(session, second);
    const { throttle } = use;
    const allowance = throttle.allowance(second);
    const room = this.#roomFor(session, use);
    const candidates: Candidate[] = [];
    let unverified = 0;
    for (const raw of updates) {
      // The gate computes a hash for each update. An update that will be refused is not worth this work.
      if (allowance === 0) {
        rejections.add(raw.symbol, THROTTLED);
        continue;
      }
      const candidate =
        candidates.length < room
          ? this.#gate.admit(raw, session.type, session.rights, again, nowNs)
          : OVERLOADED;
      if (typeof candidate === 'string') rejections.add(raw.symbol, candidate);
      else if (!candidate.verified && unverified === allowance) rejections.add(raw.symbol, THROTTLED);
      else {
        candidates.push(candidate);
        if (!candidate.verified) unverified++;
      }
    }
    throttle.begin(unverified);
    this.#wait(session, use, candidates.length);
    return {
      candidates,
      settle: (refusals, now) => {
        const bad = refusals.filter((refusal) => refusal === BAD_SIGNATURE).length;
        throttle.end(unverified, bad, now);
        this.#wait(session, use, -candidates.length);
        return throttle.allowedFrom(now);
      },
    };
  }

  #useOf(session: PublisherSession, second: bigint): BudgetUse {
    const { identity } = session.rights;
    const isApart = isUnproven(session);
    const known = isApart ? this.#unprovenUses.get(session) : this.#uses.get(identity);
    if (known !== undefined) return known;
    const use = { throttle: new SignatureThrottle(this.#badSignaturesPerSecondMax), waiting: 0 };
    if (isApart) this.#unprovenUses.set(session, use);
    else {
      if (this.#uses.size >= USES_KEPT_MAX) this.#forgetUsesAtRest(second);
      this.#uses.set(identity, use);
    }
    return use;
  }

  #forgetUsesAtRest(second: bigint): void {
    for (const [identity, { throttle, waiting }] of this.#uses)
      if (waiting === 0 && throttle.isAtRest(second)) this.#uses.delete(identity);
  }

  /**
   * Returns the number of updates that may still be admitted. Each admitted update adds one waiting update and takes one free
   * place.
   */
  #roomFor(session: PublisherSession, use: BudgetUse): number {
    const ofCaller = (UPDATES_WAITING_MAX - this.#waiting - use.waiting) / 2;
    return Math.floor((ofCaller - (this.#waitingOf.get(session) ?? 0)) / 2);
  }

  #wait(session: PublisherSession, use: BudgetUse, more: number): void {
    use.waiting += more;
    this.#waitingOf.set(session, (this.#waitingOf.get(session) ?? 0) + more);
    this.#waiting += more;
  }
}
