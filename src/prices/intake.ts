import type { CryptoPool } from '../crypto/pool/pool.js';
import type { LatestInput } from '../log/records/latest_input.js';
import { type Counters, countRejection } from '../model/counters.js';
import { SharedRoom } from '../model/shared_room.js';
import { type Clock, secondOf, type TimeNs } from '../model/time.js';
import { TurnQueue, type WorkOwner } from '../model/turn_queue.js';
import { Admission } from './admission.js';
import type { Candidate, Gate } from './gate.js';
import type { ReadMessage } from './message.js';
import {
  noteOutcome,
  type PublisherSession,
  type PublishOutcome,
  type PublishReceiver,
  TOO_MANY_WAIT,
  type UnsettledMessage,
} from './publisher_session.js';
import { Rejections } from './rejections.js';
import { type Refusals, verifyCandidates } from './update_verifier.js';

export interface IntakeOptions {
  readonly gate: Gate;
  readonly clock: Clock;
  readonly pool: CryptoPool;
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly nowMs: () => number;
  /** Calls back after the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
  readonly badSignaturesPerSecondMax: number;
  readonly counters: Counters;
  /** Called when an update has passed every check. */
  readonly onAccepted: (candidate: Candidate, accepted: LatestInput, nowNs: TimeNs) => void;
  /** Called when the updates of a message have taken effect. */
  readonly onApplied: (receivedNs: TimeNs) => void;
}

/**
 * The largest number of bytes of all callers' waiting messages, as received. After reading, a message takes about three times as
 * much memory.
 */
const WAITING_BYTES_MAX = 32 * 1024 * 1024;
/**
 * The limit of the memory of all callers' messages that wait for verdicts. The limit includes the texts of messages with candidates,
 * but not the candidates, because {@link Admission} limits their number.
 */
const UNSETTLED_BYTES_MAX = 32 * 1024 * 1024;
/** The memory of a message that waits for verdicts, without its text and its refused updates. */
const MESSAGE_BYTES = 256;
/** The memory of a refused update in such a message. */
const REFUSED_BYTES = 64;

/**
 * Receives the messages of publishers. Each update passes the gate, then its signature is verified, then the update takes effect.
 * A message's work has two parts, before and after the verification. Under load, each part waits for its turn.
 */
export class Intake implements PublishReceiver {
  readonly #options: IntakeOptions;
  readonly #admission: Admission;
  readonly #turns: TurnQueue;
  /**
   * The memory of messages that have had their turn and wait for verdicts. A message waits for its own verdicts and for the verdicts of
   * earlier messages.
   */
  readonly #unsettled = new SharedRoom(UNSETTLED_BYTES_MAX);

  constructor(options: IntakeOptions) {
    this.#options = options;
    const { nowMs, defer } = options;
    this.#turns = new TurnQueue({ waitingBytesMax: WAITING_BYTES_MAX, nowMs, defer });
    this.#admission = new Admission(options.gate, options.badSignaturesPerSecondMax);
  }

  /** The number of updates that wait for their verdicts. */
  get updatesWaiting(): number {
    return this.#admission.waiting;
  }

  receive(session: PublisherSession, message: ReadMessage): PublishOutcome | Promise<PublishOutcome> {
    const { clock } = this.#options;
    const turns = this.#turns;
    const { traceId, length } = message;
    const { identity: caller } = session.rights;
    if (!turns.hasRoom(caller, length) || !this.#unsettled.hasRoom(caller, MESSAGE_BYTES))
      return { ok: false, traceId, error: TOO_MANY_WAIT };
    const owner: WorkOwner = { caller, connection: session };
    const receivedNs = clock.nowNs();
    const take = () => this.#takeMessage(session, owner, message, receivedNs);
    if (turns.isFree) {
      const taken = turns.now(take);
      return typeof taken === 'function' ? new Promise((...answer) => taken(...answer)) : taken;
    }
    // Each answer is sent as soon as its outcome is known. Outcomes become known in the order of the messages, so the answers keep this
    // order too.
    return new Promise((resolve, reject) => {
      turns.run(owner, length, () => {
        try {
          const taken = take();
          if (typeof taken === 'function') taken(resolve, reject);
          else resolve(taken);
        } catch (fault) {
          reject(fault);
        }
      });
    });
  }

  #takeMessage(
    session: PublisherSession,
    owner: WorkOwner,
    message: ReadMessage,
    receivedNs: TimeNs,
  ): PublishOutcome | Later {
    const { pool, clock, onApplied } = this.#options;
    // Only the trace ID and the candidates stay in memory during the verification, so that the memory of the message can be freed.
    const { traceId, length } = message;
    const rejections = new Rejections(message.malformed);
    const admitted = this.#admission.admit(message, session, rejections, clock.nowNs());
    const { candidates } = admitted;
    const settle = (refusals: Refusals): PublishOutcome => {
      const verifiedFromS = admitted.settle(refusals, secondOf(clock.nowNs()));
      const { accepted, hasNew } = this.#acceptAll(candidates, refusals, rejections);
      onApplied(receivedNs);
      const outcome: PublishOutcome = {
        ok: true,
        traceId,
        accepted,
        rejected: rejections.reasons,
        ...(session.rights.isRepeatable && { hasNew }),
        ...(verifiedFromS !== undefined && { verifiedFromS }),
      };
      noteOutcome(session, outcome);
      return outcome;
    };
    const giveUp = (fault: unknown): never => {
      admitted.settle([], secondOf(clock.nowNs()));
      throw fault;
    };
    const refusals = verifyCandidates(candidates, session.type, pool);
    if (!(refusals instanceof Promise) && session.unsettled.length === 0) return settle(refusals);
    // The texts of a candidate may be slices of the message's text.
    const textBytes = candidates.length === 0 ? 0 : length;
    const bytes = MESSAGE_BYTES + textBytes + REFUSED_BYTES * rejections.reasons.size;
    return (resolve, reject) =>
      this.#settleInOrder(session, owner, refusals, { bytes, settle, giveUp, resolve, reject });
  }

  /** Settles a message after its verdicts have arrived and all earlier messages of its connection have taken effect. */
  #settleInOrder(
    session: PublisherSession,
    owner: WorkOwner,
    refusals: Refusals | Promise<Refusals>,
    { bytes, settle, giveUp, resolve, reject }: Endings,
  ): void {
    const message: UnsettledMessage = { settle: undefined };
    session.unsettled.push(message);
    this.#unsettled.add(owner.caller, bytes);
    const getReady = (outcome: () => PublishOutcome) => {
      message.settle = () => {
        this.#unsettled.add(owner.caller, -bytes);
        try {
          resolve(outcome());
        } catch (fault) {
          reject(fault);
        }
      };
      if (session.unsettled[0] === message) this.#settleReady(session, owner);
    };
    const take = (verdicts: Refusals) => getReady(() => settle(verdicts));
    const fail = (fault: unknown) => getReady(() => giveUp(fault));
    if (refusals instanceof Promise) refusals.then(take, fail);
    else take(refusals);
  }

  /** Settles the messages at the front that are ready, now or in their turn. Called when the first message becomes ready. */
  #settleReady(session: PublisherSession, owner: WorkOwner): void {
    const turns = this.#turns;
    const { unsettled } = session;
    while (unsettled[0]?.settle !== undefined) {
      const isLater = !turns.isFree;
      turns.resume(owner, () => {
        unsettled.shift()!.settle!();
        if (isLater) this.#settleReady(session, owner);
      });
      if (isLater) return;
    }
  }

  #acceptAll(candidates: readonly Candidate[], refusals: Refusals, rejections: Rejections) {
    const { clock, counters, gate, onAccepted } = this.#options;
    const accepted: string[] = [];
    let hasNew = false;
    const nowNs = clock.nowNs();
    candidates.forEach((candidate, i) => {
      const { symbol } = candidate.raw;
      const pair = refusals[i] ?? gate.accept(candidate);
      if (typeof pair === 'string') {
        rejections.add(symbol, pair);
        return;
      }
      accepted.push(symbol);
      hasNew ||= !candidate.verified && !candidate.isOver;
      if (!candidate.isOver) onAccepted(candidate, pair, nowNs);
    });
    counters.updatesAccepted += accepted.length;
    for (const reason of rejections.reasons.values()) countRejection(counters, reason);
    return { accepted, hasNew };
  }
}

/** Answers a message after it has taken effect. */
type Later = (resolve: Endings['resolve'], reject: Endings['reject']) => void;

/** The ways in which a message can end. */
interface Endings {
  /** The memory that the message takes until it ends. */
  readonly bytes: number;
  /** Applies the updates. Called after the verdicts have arrived. */
  settle(refusals: Refusals): PublishOutcome;
  /** Throws the error that prevented the verdicts. */
  giveUp(fault: unknown): never;
  readonly resolve: (outcome: PublishOutcome) => void;
  readonly reject: (fault: unknown) => void;
}
