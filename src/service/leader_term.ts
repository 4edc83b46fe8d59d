import { setImmediate as endOfTurn } from 'node:timers/promises';
import { AggregateTimes } from '../clock/aggregate_times.js';
import type { MarkPlace } from '../clock/written_mark.js';
import type { Term } from '../cluster/leading/term.js';
import { Checkpoints } from '../cluster/node/checkpoints.js';
import { TermLog } from '../cluster/node/term_log.js';
import { Submissions, type SubmissionsOptions } from '../cluster/publishers/submissions.js';
import type { Asset } from '../model/asset.js';
import type { TimeNs } from '../model/time.js';
import type { ReadMessage } from '../prices/message.js';
import { type PublisherSession, type PublishOutcome, whenDurable } from '../prices/publisher_session.js';
import { LocalMaker, type LocalMakerOptions } from './local_maker.js';
import { durableRefusal } from './node_status.js';

export interface LeaderTermOptions
  extends Pick<LocalMakerOptions, 'parts' | 'hooks' | 'settings' | 'troubles'>,
    Pick<SubmissionsOptions, 'bus' | 'rightsOf'> {
  readonly term: Term;
  /** The time of the newest aggregate in the log. */
  readonly startAfterNs: bigint;
  /** Returns the latest time that may be signed, if this node knows the servers' time. */
  readonly latestNs: () => bigint | undefined;
  /** The guarantee for durable sessions. */
  readonly durable: 'disk' | 'memory';
  /** Returns the reason why a power cut may lose acknowledged records; `undefined` when they are on disk. */
  readonly forgetful: () => string | undefined;
}

/**
 * The mark of a leader. It is empty, because the log contains each aggregate before any reader sees it. So the log's newest aggregate shows
 * which times are unused.
 */
const NO_MARK: MarkPlace = {
  read: () => undefined,
  write: (_timeNs, onSettled) => onSettled(true),
};

/** Returns the answer to a message of a durable session when its updates cannot be accepted now. */
function refusalOf({ traceId, again }: ReadMessage, doubt: string): PublishOutcome {
  // An earlier leader may have accepted the updates, even if its answer was lost.
  const earlier = again === true ? '; the updates may have been taken before' : '';
  return { ok: false, traceId, error: durableRefusal(doubt) + earlier };
}

/** The parts of a node that make prices while it leads. */
export class LeaderTerm {
  readonly maker: LocalMaker;
  readonly #term: Term;
  readonly #checkpoints: Checkpoints<Asset>;
  readonly #submissions: Submissions;
  readonly #options: Pick<LeaderTermOptions, 'durable' | 'forgetful'>;

  constructor(options: LeaderTermOptions) {
    this.#options = options;
    const { term, parts, hooks, settings, troubles, bus, rightsOf, startAfterNs, latestNs } = options;
    const { clock, store } = parts;
    this.#term = term;
    const log = new TermLog(term, store);
    const times = new AggregateTimes(clock, NO_MARK, startAfterNs, latestNs);
    times.notBefore(parts.publicLog?.endNs ?? 0n);
    this.maker = new LocalMaker({ parts, hooks, settings, log, times, ...(troubles && { troubles }) });
    this.maker.leadLog(parts.publicLog, {
      epoch: term.epoch,
      append: (kind, bytes) => log.appendPublic(kind, bytes),
      doubt: options.forgetful,
    });
    this.#checkpoints = new Checkpoints(
      {
        assets: () => settings().catalogue.listed,
        putAgain: (asset, beforeNs) => this.maker.putAgain(asset, beforeNs),
      },
      clock.nowNs(),
    );
    this.#submissions = new Submissions({
      bus,
      epoch: term.epoch,
      rightsOf,
      receiver: { receive: (session, message) => this.#answer(session, message) },
    });
    this.#submissions.start();
  }

  /** @returns `undefined` when the term ended before the outcome was known; another node may then accept the message */
  receive(
    session: PublisherSession,
    message: ReadMessage,
  ): PublishOutcome | Promise<PublishOutcome | undefined> {
    const doubt = session.isDurable ? this.#options.forgetful() : undefined;
    if (doubt !== undefined) return refusalOf(message, doubt);
    const outcome = this.maker.aggregator.receive(session, message);
    if (!(outcome instanceof Promise) && !session.isDurable) return outcome;
    return this.#whenKnown(session, outcome);
  }

  async #whenKnown(
    session: PublisherSession,
    outcome: PublishOutcome | Promise<PublishOutcome>,
  ): Promise<PublishOutcome | undefined> {
    const accepted = await outcome;
    if (this.#term.isOver) return undefined;
    const known = await whenDurable(session, accepted, this.maker.written);
    if (!known.ok) return this.#term.isOver ? undefined : known;
    const isInMemory = session.isDurable && this.#options.durable === 'memory';
    return isInMemory ? { ...known, durable: 'memory' } : known;
  }

  /** Ends the term. The next leader receives the unanswered messages from publishers of other nodes. */
  stepDown(): void {
    this.#submissions.stop();
  }

  tick(nowNs: TimeNs): void {
    this.maker.tick(nowNs);
    this.#checkpoints.tick(nowNs);
  }

  /** Answers another node. Without an answer, that node asks the next leader. */
  async #answer(session: PublisherSession, message: ReadMessage): Promise<PublishOutcome> {
    const outcome = await this.receive(session, message);
    if (outcome === undefined) throw new Error('this node leads no more');
    // The leader sends the price at the end of this turn. The answer is sent after the price, because readers wait for the price.
    await endOfTurn();
    return outcome;
  }
}
