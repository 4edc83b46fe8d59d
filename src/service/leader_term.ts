import { setImmediate as endOfTurn } from 'node:timers/promises';
import { Aggregator } from '../aggregator/aggregator.js';
import { type PublisherSession, type PublishOutcome, whenDurable } from '../aggregator/publisher_session.js';
import { AggregateTimes } from '../clock/aggregate_times.js';
import { aggregateTroubles, ClockWatch, type Trouble } from '../clock/clock_watch.js';
import type { MarkPlace } from '../clock/written_mark.js';
import type { Term } from '../cluster/leading/term.js';
import { Submissions, type SubmissionsOptions } from '../cluster/publishers/submissions.js';
import type { ReadMessage } from '../ingest/message.js';
import type { Asset } from '../model/asset.js';
import type { TimeNs } from '../model/time.js';
import { Checkpoints } from '../node/checkpoints.js';
import { logInputs } from '../node/log_inputs.js';
import { LogSink } from '../node/log_sink.js';
import type { Settings } from './settings.js';
import { aggregatorOptions, type PriceMakerOptions } from './solo.js';

/** Nothing is seen before the log has it, so its newest aggregate says which times may be used. */
const NO_MARK: MarkPlace = {
  read: () => undefined,
  write: (_timeNs, onSettled) => onSettled(true),
};

/** What a node makes while it leads. */
export class LeaderTerm {
  readonly term: Term;
  readonly aggregator: Aggregator;
  readonly times: AggregateTimes;
  readonly clockWatch: ClockWatch;
  readonly #checkpoints: Checkpoints<Asset>;
  readonly #sink: LogSink;
  readonly #submissions: Submissions;

  /**
   * @param startAfterNs when the newest aggregate of the log was signed
   * @param serverTrouble what may be wrong with the clock as the servers see it
   */
  constructor(
    options: PriceMakerOptions & Pick<SubmissionsOptions, 'bus'>,
    term: Term,
    settings: () => Settings,
    startAfterNs: bigint,
    rightsOf: SubmissionsOptions['rightsOf'],
    serverTrouble: Trouble,
  ) {
    const { bus, clock, store, source, logger } = options;
    const { catalogue } = settings();
    this.term = term;
    this.times = new AggregateTimes(clock, NO_MARK, startAfterNs);
    this.clockWatch = new ClockWatch({
      clock,
      troubles: [...aggregateTroubles(clock, this.times), serverTrouble],
      logger,
    });
    this.#sink = new LogSink({ term, store, source });
    this.aggregator = new Aggregator({
      ...aggregatorOptions(options, settings),
      times: this.times,
      sink: this.#sink,
      inputs: logInputs(term, store),
    });
    this.aggregator.restore();
    this.#sink.endOthers(catalogue.assets, clock.nowNs());
    this.#checkpoints = new Checkpoints(
      {
        assets: () => settings().catalogue.listed,
        putAgain: (asset, beforeNs) => this.aggregator.putAgain(asset, beforeNs),
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

  /** @returns `undefined` when the term ended before there was an outcome: another node may take the message */
  receive(
    session: PublisherSession,
    message: ReadMessage,
  ): PublishOutcome | Promise<PublishOutcome | undefined> {
    const outcome = this.aggregator.receive(session, message);
    if (!(outcome instanceof Promise) && !session.isDurable) return outcome;
    return this.#whenKnown(session, outcome);
  }

  async #whenKnown(
    session: PublisherSession,
    outcome: PublishOutcome | Promise<PublishOutcome>,
  ): Promise<PublishOutcome | undefined> {
    const accepted = await outcome;
    if (this.term.isOver) return undefined;
    const known = await whenDurable(session, accepted, () => this.#written());
    return known.ok || !this.term.isOver ? known : undefined;
  }

  /** The term is over: what publishers of other nodes sent and was not answered goes to the next leader. */
  stepDown(): void {
    this.#submissions.stop();
  }

  /** Puts a changed configuration in force. */
  reload({ catalogue }: Settings): void {
    this.aggregator.reload(catalogue);
  }

  tick(nowNs: TimeNs): void {
    this.aggregator.tick(nowNs);
    this.#checkpoints.tick(nowNs);
    this.clockWatch.tick(nowNs);
  }

  /** For another node, which asks the next leader when there is no answer. */
  async #answer(session: PublisherSession, message: ReadMessage): Promise<PublishOutcome> {
    const outcome = await this.receive(session, message);
    if (outcome === undefined) throw new Error('this node leads no more');
    // Readers wait for the price, which leaves at the end of this turn: it goes first.
    await endOfTurn();
    return outcome;
  }

  /** A price that moved far enough is signed at the end of this turn: its aggregate is to be in the same record of the log. */
  async #written(): Promise<void> {
    await endOfTurn();
    await this.term.durable();
  }
}
