import type { CryptoPool } from '../crypto/pool.js';
import type { Candidate, Gate } from '../ingest/gate.js';
import type { ReadMessage } from '../ingest/message.js';
import { type Counters, countRejection } from '../metrics/counters.js';
import { type Clock, secondOf, type TimeNs } from '../model/time.js';
import { TurnQueue, type WorkOwner } from '../model/turn_queue.js';
import { Admission } from './admission.js';
import {
  type PublisherSession,
  type PublishOutcome,
  type PublishReceiver,
  TOO_MANY_WAIT,
} from './session.js';
import { type Refusals, verifyCandidates } from './verifier.js';

export interface IntakeOptions {
  readonly gate: Gate;
  readonly clock: Clock;
  readonly pool: CryptoPool;
  /** Milliseconds of a clock that does not go back. */
  readonly nowMs: () => number;
  /** Calls back when the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
  readonly badSignaturesPerSecondMax: number;
  readonly counters: Counters;
  /** An update has passed every check. */
  readonly onAccepted: (candidate: Candidate, nowNs: TimeNs) => void;
  /** Called when the updates of a message have taken effect. */
  readonly onApplied: (receivedNs: TimeNs) => void;
}

/** Of messages, as they came, of all callers. Read, they take about three times as much. */
const WAITING_BYTES_MAX = 32 * 1024 * 1024;

/**
 * Takes the messages of publishers: each update goes through the gate, has its signature verified, and takes effect. Both parts of
 * a message, before and after its signatures are verified, wait for their turn when there is much to do.
 */
export class Intake implements PublishReceiver {
  readonly #options: IntakeOptions;
  readonly #admission: Admission;
  readonly #turns: TurnQueue;

  constructor(options: IntakeOptions) {
    this.#options = options;
    this.#turns = new TurnQueue({ ...options, waitingBytesMax: WAITING_BYTES_MAX });
    this.#admission = new Admission(options.gate, options.badSignaturesPerSecondMax);
  }

  /** Updates that wait for their verdict. */
  get updatesWaiting(): number {
    return this.#admission.waiting;
  }

  receive(session: PublisherSession, message: ReadMessage): PublishOutcome | Promise<PublishOutcome> {
    const { clock, counters } = this.#options;
    const turns = this.#turns;
    const receivedNs = clock.nowNs();
    const owner: WorkOwner = { caller: session.rights.identity, connection: session };
    if (!turns.hasRoom(owner.caller, message.length)) {
      countRejection(counters, TOO_MANY_WAIT);
      return { ok: false, traceId: message.traceId, error: TOO_MANY_WAIT };
    }
    return turns.run(owner, message.length, () => this.#take(session, owner, message, receivedNs));
  }

  #take(
    session: PublisherSession,
    owner: WorkOwner,
    { updates, malformed, traceId, again }: ReadMessage,
    receivedNs: TimeNs,
  ): PublishOutcome | Promise<PublishOutcome> {
    const { pool, clock, onApplied } = this.#options;
    const admitted = this.#admission.admit(updates, session, clock.nowNs(), again);
    const { candidates } = admitted;
    const rejected = new Map([...malformed, ...admitted.rejected]);
    const settle = (refusals: Refusals): PublishOutcome => {
      const verifiedFromS = admitted.settle(refusals, secondOf(clock.nowNs()));
      const accepted = this.#acceptAll(candidates, refusals, rejected);
      onApplied(receivedNs);
      return { ok: true, traceId, accepted, rejected, ...(verifiedFromS !== undefined && { verifiedFromS }) };
    };
    const refusals = verifyCandidates(candidates, session.type, pool);
    if (!(refusals instanceof Promise) && session.tail === undefined) return settle(refusals);

    const settleLast = (verdicts: Refusals): PublishOutcome => {
      if (session.tail === outcome) session.tail = undefined;
      return settle(verdicts);
    };
    const outcome: Promise<PublishOutcome> = Promise.all([refusals, session.tail]).then(([verdicts]) =>
      this.#turns.resume(owner, () => settleLast(verdicts)),
    );
    session.tail = outcome;
    return outcome;
  }

  #acceptAll(candidates: readonly Candidate[], refusals: Refusals, rejected: Map<string, string>): string[] {
    const { clock, counters, gate, onAccepted } = this.#options;
    const accepted: string[] = [];
    const nowNs = clock.nowNs();
    candidates.forEach((candidate, i) => {
      const refusal = refusals[i] ?? gate.accept(candidate);
      if (refusal !== undefined) {
        rejected.set(candidate.raw.symbol, refusal);
        return;
      }
      accepted.push(candidate.raw.symbol);
      if (!candidate.isOver) onAccepted(candidate, nowNs);
    });
    counters.updatesAccepted += accepted.length;
    for (const reason of rejected.values()) countRejection(counters, reason);
    return accepted;
  }
}
