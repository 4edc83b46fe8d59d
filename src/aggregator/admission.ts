import type { Candidate, Gate } from '../ingest/gate.js';
import type { ReadMessage } from '../ingest/message.js';
import type { Rejections } from '../ingest/rejections.js';
import { secondOf, type TimeNs } from '../model/time.js';
import type { PublisherSession } from './publisher_session.js';
import { SignatureThrottle } from './signature_throttle.js';
import { BAD_SIGNATURE } from './update_verifier.js';

/** The part of one message that goes on to the verifiers. */
export interface Admitted {
  readonly candidates: readonly Candidate[];
  /**
   * Takes the refusals that came back for the candidates, in their order, and the UNIX second by then.
   * @returns the second from which on signatures of the caller are verified again, when none are now
   */
  settle(refusals: readonly (string | undefined)[], second: bigint): bigint | undefined;
}

/** Updates that may wait for their verdict, about a second of work for one core. */
const UPDATES_WAITING_MAX = 20_000;

/** With more callers than this, those that have sent no bad signatures lately are forgotten. */
const USES_KEPT_MAX = 1_000;

const OVERLOADED = 'overloaded: too many updates wait for verification';
const THROTTLED = 'too many bad signatures of this token or key: not verified';

/** What one caller has used of the verification budget, over all of its connections. */
interface BudgetUse {
  readonly throttle: SignatureThrottle;
  /** Its updates that wait for their verdict. */
  waiting: number;
}

/**
 * Passes updates through the gate and bounds what waits for curve arithmetic: for all callers together, and for each by the
 * bad signatures that it sent.
 *
 * A caller may have as many updates waiting as there is room left for. One that floods gets half of the room, two get
 * a third each, and so on: whatever they send, there is room for one that has little waiting. Its connections share its room in
 * the same way.
 */
export class Admission {
  readonly #gate: Gate;
  readonly #badSignaturesPerSecondMax: number;
  /** By the identity of the caller. */
  readonly #uses = new Map<string, BudgetUse>();
  /** By connection: its updates that wait. */
  readonly #waitingOf = new WeakMap<PublisherSession, number>();
  #waiting = 0;

  constructor(gate: Gate, badSignaturesPerSecondMax: number) {
    this.#gate = gate;
    this.#badSignaturesPerSecondMax = badSignaturesPerSecondMax;
  }

  /** Updates that wait for their verdict. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * What is admitted waits until it is settled.
   * @param rejections takes up the others
   */
  admit(
    { updates, again }: Pick<ReadMessage, 'updates' | 'again'>,
    session: PublisherSession,
    rejections: Rejections,
    nowNs: TimeNs,
  ): Admitted {
    const second = secondOf(nowNs);
    const use = this.#useOf(session.rights.identity, second);
    const { throttle } = use;
    const allowance = throttle.allowance(second);
    const room = this.#roomFor(session, use);
    const candidates: Candidate[] = [];
    let unverified = 0;
    for (const raw of updates) {
      // The gate takes as long as a hash: too long for what is refused anyway.
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

  #useOf(identity: string, second: bigint): BudgetUse {
    const known = this.#uses.get(identity);
    if (known !== undefined) return known;
    if (this.#uses.size >= USES_KEPT_MAX) this.#forgetUsesAtRest(second);
    const use = { throttle: new SignatureThrottle(this.#badSignaturesPerSecondMax), waiting: 0 };
    this.#uses.set(identity, use);
    return use;
  }

  #forgetUsesAtRest(second: bigint): void {
    for (const [identity, { throttle, waiting }] of this.#uses)
      if (waiting === 0 && throttle.isAtRest(second)) this.#uses.delete(identity);
  }

  /** Each update that is admitted adds to what waits and takes from what is left. */
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
