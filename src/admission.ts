import type { Candidate, Gate } from './ingest/gate.js';
import type { RawUpdate } from './ingest/message.js';
import type { PublisherSession } from './pipeline.js';
import { SignatureThrottle } from './signature_throttle.js';
import { BAD_SIGNATURE } from './verifier.js';

/** What of one message goes on to the verifiers. */
export interface Admitted {
  readonly candidates: readonly Candidate[];
  /** Symbol to reason. */
  readonly rejected: Map<string, string>;
  /** Told of the refusals that came back for the candidates, in their order, and the second it is by then. */
  settle(refusals: readonly (string | undefined)[], second: bigint): void;
}

/** Updates that may wait for their verdict, about a second of work for one core; past it they are refused. */
const UPDATES_WAITING_MAX = 20_000;

const OVERLOADED = 'overloaded: too many updates wait for verification';
const THROTTLED = 'too many bad signatures on this connection: not verified';

/** The gate, and what it lets through to the curve arithmetic: bounded for all, and for each connection by its conduct. */
export class Admission {
  readonly #gate: Gate;
  readonly #badSignaturesPerSecondMax: number;
  readonly #throttles = new WeakMap<PublisherSession, SignatureThrottle>();

  constructor(gate: Gate, badSignaturesPerSecondMax: number) {
    this.#gate = gate;
    this.#badSignaturesPerSecondMax = badSignaturesPerSecondMax;
  }

  /** @param waiting how many updates wait for their verdict already. */
  admit(updates: readonly RawUpdate[], session: PublisherSession, waiting: number, second: bigint): Admitted {
    const throttle = this.#throttleOf(session);
    const allowance = throttle.allowance(second);
    const rejected = new Map<string, string>();
    const candidates: Candidate[] = [];
    let unverified = 0;
    for (const raw of updates) {
      const candidate =
        waiting + candidates.length < UPDATES_WAITING_MAX
          ? this.#gate.admit(raw, session.type, session.rights)
          : OVERLOADED;
      if (typeof candidate === 'string') rejected.set(raw.symbol, candidate);
      else if (!candidate.verified && unverified === allowance) rejected.set(raw.symbol, THROTTLED);
      else {
        candidates.push(candidate);
        if (!candidate.verified) unverified++;
      }
    }
    throttle.begin(unverified);
    return {
      candidates,
      rejected,
      settle(refusals, now) {
        const bad = refusals.filter((refusal) => refusal === BAD_SIGNATURE).length;
        throttle.end(unverified, bad, now);
      },
    };
  }

  #throttleOf(session: PublisherSession): SignatureThrottle {
    const known = this.#throttles.get(session);
    if (known !== undefined) return known;
    const throttle = new SignatureThrottle(this.#badSignaturesPerSecondMax);
    this.#throttles.set(session, throttle);
    return throttle;
  }
}
