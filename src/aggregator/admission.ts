import type { Candidate, Gate } from '../ingest/gate.js';
import type { RawUpdate } from '../ingest/message.js';
import type { PublisherSession } from './session.js';
import { SignatureThrottle } from './signature_throttle.js';
import { BAD_SIGNATURE } from './verifier.js';

/** The part of one message that goes on to the verifiers. */
export interface Admitted {
  readonly candidates: readonly Candidate[];
  /** Symbol to reason. */
  readonly rejected: Map<string, string>;
  /** Takes the refusals that came back for the candidates, in their order, and the UNIX second by then. */
  settle(refusals: readonly (string | undefined)[], second: bigint): void;
}

/** Updates that may wait for their verdict, about a second of work for one core. */
const UPDATES_WAITING_MAX = 20_000;

const OVERLOADED = 'overloaded: too many updates wait for verification';
const THROTTLED = 'too many bad signatures on this connection: not verified';

/** What one connection has used of the verification budget. */
interface BudgetUse {
  readonly throttle: SignatureThrottle;
  /** Its updates that wait for their verdict. */
  waiting: number;
}

/**
 * Passes updates through the gate and bounds what waits for curve arithmetic: for all connections together, and for each by the
 * bad signatures that it sent.
 *
 * A connection may have as many updates waiting as there is room left for. One that floods gets half of the room, two get
 * a third each, and so on: whatever they send, there is room for one that has little waiting.
 */
export class Admission {
  readonly #gate: Gate;
  readonly #badSignaturesPerSecondMax: number;
  readonly #uses = new WeakMap<PublisherSession, BudgetUse>();
  #waiting = 0;

  constructor(gate: Gate, badSignaturesPerSecondMax: number) {
    this.#gate = gate;
    this.#badSignaturesPerSecondMax = badSignaturesPerSecondMax;
  }

  /** Updates that wait for their verdict. */
  get waiting(): number {
    return this.#waiting;
  }

  /** What is admitted waits until it is settled. */
  admit(updates: readonly RawUpdate[], session: PublisherSession, second: bigint): Admitted {
    const use = this.#useOf(session);
    const { throttle } = use;
    const allowance = throttle.allowance(second);
    // Each one that is admitted adds to what waits and takes from what is left.
    const room = Math.floor((UPDATES_WAITING_MAX - this.#waiting - use.waiting) / 2);
    const rejected = new Map<string, string>();
    const candidates: Candidate[] = [];
    let unverified = 0;
    for (const raw of updates) {
      const candidate =
        candidates.length < room ? this.#gate.admit(raw, session.type, session.rights) : OVERLOADED;
      if (typeof candidate === 'string') rejected.set(raw.symbol, candidate);
      else if (!candidate.verified && unverified === allowance) rejected.set(raw.symbol, THROTTLED);
      else {
        candidates.push(candidate);
        if (!candidate.verified) unverified++;
      }
    }
    throttle.begin(unverified);
    this.#wait(use, candidates.length);
    return {
      candidates,
      rejected,
      settle: (refusals, now) => {
        const bad = refusals.filter((refusal) => refusal === BAD_SIGNATURE).length;
        throttle.end(unverified, bad, now);
        this.#wait(use, -candidates.length);
      },
    };
  }

  #wait(use: BudgetUse, more: number): void {
    use.waiting += more;
    this.#waiting += more;
  }

  #useOf(session: PublisherSession): BudgetUse {
    const known = this.#uses.get(session);
    if (known !== undefined) return known;
    const use = { throttle: new SignatureThrottle(this.#badSignaturesPerSecondMax), waiting: 0 };
    this.#uses.set(session, use);
    return use;
  }
}
