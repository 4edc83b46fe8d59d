import { startOfTerm } from '../../../src/clock/aggregate_times.js';
import type { Bus, LogPosition } from '../../../src/cluster/bus.js';
import type { Term } from '../../../src/cluster/leading/term.js';
import type { LogBatch } from '../../../src/cluster/log/log_batch.js';
import { ClusterMember } from '../../../src/cluster/member.js';
import { Checkpoints } from '../../../src/cluster/node/checkpoints.js';
import { Forwarder } from '../../../src/cluster/publishers/forwarder.js';
import { Submissions } from '../../../src/cluster/publishers/submissions.js';
import { TICK_TOPIC } from '../../../src/cluster/subjects.js';
import type { TimeNs } from '../../../src/model/time.js';
import type { ReadMessage } from '../../../src/prices/message.js';
import type { PublisherSession, PublishOutcome } from '../../../src/prices/publisher_session.js';
import { whenDurable } from '../../../src/prices/publisher_session.js';
import { livePrice } from '../../model/sample.js';
import { Random } from '../../random.js';
import {
  ASSETS,
  aggregateEntry,
  inputEntry,
  messageOf,
  nameOf,
  numberOf,
  priceOf,
  RIGHTS,
  readEntry,
  type Update,
  updateOf,
} from './sample.js';
import { SimulatedBus } from './simulated_bus.js';
import type { Kept, NodeOptions, SimulatedNode } from './simulated_node.js';

/** The longest interval of ticks. The service's ticker has the same interval. */
const TICK_MS_MAX = 250;
/** The number of earlier updates of an asset that its input names. */
const SEEN_MAX = 40;
/** The speed-up of checkpoints: a round of 300 s takes half a second of simulated time. */
const CHECKPOINT_SPEED = 600n;

/** A process of a node. */
export class Process {
  readonly #node: SimulatedNode;
  readonly #options: NodeOptions;
  readonly #bus: SimulatedBus;
  readonly member: ClusterMember;
  readonly #forwarder: Forwarder;
  /** The connections of two publishers; the second publisher requests durable acknowledgements. */
  readonly #sessions = [false, true].map(
    (isDurable): PublisherSession => ({ type: 'evm', rights: RIGHTS, isDurable, unsettled: [] }),
  );
  /** The work that arrived while the process was paused. */
  #backlog: (() => void)[] | undefined;
  #isDead = false;
  #term: Term | undefined;
  #submissions: Submissions | undefined;
  #checkpoints: Checkpoints<number> | undefined;
  /** The time at which the term began. */
  #ledMs = Number.POSITIVE_INFINITY;
  /** The updates of each asset that the log has; the newest is the last. */
  readonly #seen: Map<number, readonly number[]>;
  /** The time at which the node received the newest update of each asset, on the clock of the checkpoints. */
  readonly #receivedNs = new Map<number, bigint>();
  readonly #signed: Map<number, number>;
  /** The updates of each asset that the node has taken in its current term, or before it; the newest is the last. */
  #taken = new Map<number, readonly number[]>();
  #position: LogPosition;
  #lastId: string;
  /** The first record that this process has found in its folder instead of applying it; 0 when it has applied everything. */
  readonly #startedAfter: number;
  #signedAtUs: number;
  readonly #run: string;
  hasStopped = false;
  /** The latest ticks of this process's readers, by asset. */
  readonly table = new Map<number, bigint>();
  /** The signing time of each asset's aggregate, as readers of this process see it; `undefined` before the first aggregate. */
  latest: ReadonlyMap<number, number> | undefined;

  constructor(node: SimulatedNode, options: NodeOptions, kept: Kept, run: string) {
    this.#node = node;
    this.#run = run;
    this.#options = options;
    this.#seen = new Map(kept.seen);
    this.#signed = new Map(kept.signed);
    this.#position = kept.position;
    this.#lastId = kept.lastId;
    this.#startedAfter = kept.position.sequence;
    this.#signedAtUs = kept.signedAtUs;
    const { agenda, servers, buses, random, number, role, timing, invariants, tell } = options;
    this.#bus = new SimulatedBus(
      { agenda, servers, others: () => buses, onNode: (work) => this.run(work), isCut: () => node.isCut },
      random.below(3),
    );
    buses.add(this.#bus);
    const bus = this.#observed(this.#bus);
    this.member = new ClusterMember({
      bus,
      host: {
        apply: (batch, position) => this.#apply(batch, position),
        caughtUp: () => {
          this.latest = this.#signed;
        },
        missing: () => {
          this.#position = this.member.applied;
          this.#lastId = '';
        },
        faulty: (fault, reason) => {
          tell?.(`${node.name}: ${fault}: ${reason}`);
          if (fault !== 'skipped record') return;
          this.#position = this.member.applied;
          invariants.skipped(node.name, reason, servers.isFaulty(this.#position));
        },
        restored: () => {},
        lead: (term) => this.#lead(term, bus),
        stepDown: (reason) => {
          tell?.(`${node.name} leads no more: ${reason}`);
          this.#submissions?.stop();
          this.#term = undefined;
        },
        prices: {
          priced: (asset, { price }) => {
            invariants.priced(node.name, numberOf(asset), Number(price));
            this.table.set(numberOf(asset), price);
          },
          ended: (asset) => this.table.delete(numberOf(asset)),
        },
        healthy: () => node.isHealthy && !this.hasStopped,
        clockIsRight: () => node.hasRightClock,
        fatal: (reason) => this.#stop(reason),
      },
      role,
      node: number,
      name: node.name,
      run,
      configHash: () => NO_BYTES,
      signers: () => [],
      taxonomy: () => node.taxonomy,
      applied: kept.position,
      timing,
      nowMs: () => node.nowMs(),
      defer: (callback) => agenda.after(0, () => this.run(callback)),
    });
    this.#forwarder = new Forwarder({
      bus,
      node: number,
      secret: run,
      epoch: () => this.member.ledEpoch,
      nameOf: () => ({ token: 'ab' }),
      nowMs: () => node.nowMs(),
    });
  }

  start(): void {
    this.member.start();
    this.#tick();
  }

  end(): void {
    this.#isDead = true;
    this.#bus.end();
    this.#options.buses.delete(this.#bus);
  }

  pause(): void {
    this.#backlog ??= [];
  }

  resume(): void {
    const backlog = this.#backlog ?? [];
    this.#backlog = undefined;
    for (const work of backlog) this.#options.agenda.after(0, () => this.run(work));
  }

  /** Does work now, or when the process continues, or never if the process is dead. */
  run(work: () => void): void {
    if (this.#isDead) return;
    if (this.#backlog !== undefined) this.#backlog.push(work);
    else work();
  }

  /** All records that the process has applied. */
  get state(): Kept {
    return {
      position: this.#position,
      lastId: this.#lastId,
      seen: new Map(this.#seen),
      signed: new Map(this.#signed),
      signedAtUs: this.#signedAtUs,
    };
  }

  /** Returns whether the log has the last record that the process has applied. */
  isAt(log: readonly LogPosition[]): boolean {
    const { sequence, id } = this.#position;
    return sequence === 0 || log[sequence - 1]?.id === id;
  }

  /** The ID of the last applied record that had an effect. */
  get lastId(): string {
    return this.#lastId;
  }

  /** The newest update of each asset. */
  get prices(): ReadonlyMap<number, number> {
    return new Map([...this.#seen].map(([asset, values]) => [asset, values.at(-1)!]));
  }

  /** The time for which the node has led in its current term; negative while it does not lead. */
  get ledForMs(): number {
    return this.#term === undefined ? -1 : this.#options.agenda.nowMs - this.#ledMs;
  }

  /** Receives an update at the node that leads; other nodes ignore it. */
  publish(update: Update, durable: boolean): void {
    const term = this.#term;
    if (term === undefined) return;
    this.#options.invariants.published(update.asset, update.value);
    this.#take(term, update);
    if (durable)
      term.durable().then(
        () => this.#options.invariants.acknowledged(update.value),
        () => {},
      );
  }

  /** Receives an update on the socket of a publisher. If another node leads, the node forwards the update. */
  receive(update: Update, durable: boolean): void {
    const { invariants } = this.#options;
    const session = this.#sessions[durable ? 1 : 0]!;
    const message = messageOf(update);
    invariants.published(update.asset, update.value);
    const answered = (outcome: PublishOutcome) => {
      if (this.#isDead || !outcome.ok) return;
      const isTaken = outcome.accepted.length > 0;
      if (!isTaken) invariants.refused(update.value);
      else if (durable) invariants.acknowledged(update.value);
    };
    const forward = (again: boolean) =>
      Promise.resolve(this.#forwarder.receive(session, { ...message, again })).then(answered);
    if (this.#term === undefined || this.#forwarder.isWaiting(session)) void forward(false);
    else
      this.#answer(this.#term, session, message).then(answered, () => {
        if (!this.#isDead) this.run(() => void forward(true));
      });
  }

  /** Ends an asset's price at the leading node. */
  endPrice(asset: number): void {
    if (this.#term === undefined || this.#term.isOver) return;
    this.table.delete(asset);
    this.#term.ended(nameOf(asset));
  }

  #stop(reason: string): void {
    const { invariants, servers, tell } = this.#options;
    tell?.(`${this.#node.name} stops: ${reason}`);
    this.hasStopped = true;
    const { end } = servers;
    const couldRestore =
      this.#node.role === 'aggregator' &&
      end.sequence < this.#position.sequence &&
      end.sequence >= this.#startedAfter &&
      !servers.isFaulty(end) &&
      invariants.hasApplied(this.#lastId, end.id);
    invariants.fatal(this.#node.name, reason, couldRestore);
  }

  #tick(): void {
    if (this.#isDead) return;
    this.run(() => {
      this.member.tick();
      this.#forwarder.tick(this.#node.nowMs());
      if (this.#term !== undefined) this.#checkpoints?.tick(this.#checkpointNs);
      const dueMs = Math.min(this.member.nextDueMs(), this.#forwarder.nextDueMs());
      const waitMs = Math.min(Math.max(dueMs - this.#node.nowMs(), 1), TICK_MS_MAX);
      this.#options.agenda.after(waitMs, () => this.#tick());
    });
  }

  get #checkpointNs(): TimeNs {
    return (BigInt(this.#node.nowUs()) * 1_000n * CHECKPOINT_SPEED) as TimeNs;
  }

  /** Applies an update in a term. */
  #take(term: Term, update: Update): void {
    const { asset, value } = update;
    this.#price(term, asset, value);
    const before = this.#taken.get(asset) ?? [];
    term.append(inputEntry(update, before));
    this.#taken.set(asset, [...before, value].slice(-SEEN_MAX));
    this.#receivedNs.set(asset, this.#checkpointNs);
    this.#signedAtUs = Math.max(this.#node.nowUs(), this.#signedAtUs + 1);
    term.append(aggregateEntry({ asset, value, signedAtUs: this.#signedAtUs }));
  }

  /**
   * Takes the update of a message, if it is newer than the last update. A repeated update succeeds if it was accepted earlier.
   * @throws Error when the term is over, so that the outcome is unknown
   */
  async #answer(term: Term, session: PublisherSession, message: ReadMessage): Promise<PublishOutcome> {
    const update = updateOf(message);
    const { symbol } = nameOf(update.asset);
    const taken = this.#taken.get(update.asset) ?? [];
    const isNewer = update.value > (taken.at(-1) ?? 0);
    const isTaken = isNewer || (message.again === true && taken.includes(update.value));
    if (isNewer) this.#take(term, update);
    const outcome: PublishOutcome = {
      ok: true,
      traceId: undefined,
      accepted: isTaken ? [symbol] : [],
      rejected: new Map(isTaken ? [] : [[symbol, 'not newer']]),
    };
    const known = await whenDurable(session, outcome, () => term.durable());
    if (term.isOver) throw new Error('this node leads no more');
    return known;
  }

  #apply({ entries, after }: LogBatch, position: LogPosition): void {
    const { invariants, servers, random } = this.#options;
    invariants.applies(this.#node.name, position, servers.log, { after, lastId: this.#lastId });
    this.#position = position;
    this.#lastId = position.id;
    for (const entry of entries) {
      const { isInput, asset, value, before, signedAtUs } = readEntry(entry);
      if (isInput) {
        if (this.#seen.get(asset)?.at(-1) !== value) this.#receivedNs.set(asset, this.#checkpointNs);
        this.#seen.set(asset, [...before, value]);
      } else {
        this.#signedAtUs = Math.max(this.#signedAtUs, signedAtUs);
        this.#signed.set(asset, signedAtUs);
        invariants.shown(asset, value, signedAtUs);
      }
    }
    if (random.chance(0.3)) this.#node.keep(this.state);
  }

  #lead(term: Term, bus: Bus): void | Promise<void> {
    const { agenda, random, invariants, servers, tell } = this.#options;
    const begin = () => {
      tell?.(`${this.#node.name} leads in epoch ${term.epoch}`);
      invariants.leads(
        this.#node.name,
        this.prices,
        servers.log.slice(servers.firstSequence - 1, term.epoch),
        term.epoch,
      );
      this.#term = term;
      this.#ledMs = agenda.nowMs;
      // A separate random generator keeps the rest of the schedule unchanged.
      const skip = new Random(Math.floor(agenda.nowMs * 1_000)).next();
      this.#signedAtUs = Number(startOfTerm(BigInt(this.#signedAtUs), skip));
      this.#taken = new Map(this.#seen);
      for (const [asset, value] of this.prices) this.#price(term, asset, value);
      this.#checkpoints = new Checkpoints<number>(
        {
          assets: () => ASSETS,
          putAgain: (asset, beforeNs) => this.#putAgain(term, asset, beforeNs),
        },
        this.#checkpointNs,
      );
      this.#submissions = new Submissions({
        bus,
        epoch: term.epoch,
        rightsOf: () => RIGHTS,
        receiver: { receive: (session, message) => this.#answer(term, session, message) },
      });
      this.#submissions.start();
    };
    if (random.chance(0.7)) begin();
    else
      return new Promise((resolve) => {
        agenda.after(random.between(0, 100), () =>
          this.run(() => {
            if (!term.isOver) begin();
            resolve();
          }),
        );
      });
  }

  #putAgain(term: Term, asset: number, beforeNs: TimeNs): void {
    const taken = this.#taken.get(asset);
    if (taken !== undefined && (this.#receivedNs.get(asset) ?? 0n) < beforeNs)
      term.append(inputEntry({ asset, value: taken.at(-1)! }, taken.slice(0, -1)));
  }

  #price(term: Term, asset: number, value: number): void {
    if (term.isOver) return;
    this.table.set(asset, priceOf(value));
    term.priced(nameOf(asset), livePrice(priceOf(value)));
  }

  /** Wraps a bus so that the invariants see the node's messages. */
  #observed(bus: SimulatedBus): Bus {
    const { invariants, servers } = this.#options;
    return {
      append: (after: LogPosition, id: string, bytes: Uint8Array) => {
        if (!servers.isForeign({ sequence: after.sequence + 1, id })) {
          invariants.writes(this.#run, after, this.#position, id);
          invariants.knows(id, this.member.nodes.appliedMax);
        }
        return bus.append(after, id, bytes);
      },
      extent: () => bus.extent(),
      read: (after: number) => bus.read(after),
      onCommitted: bus.onCommitted.bind(bus),
      send: (topic: string, bytes: Uint8Array) => {
        if (topic === TICK_TOPIC) invariants.ticks(this.#node.name, bytes);
        bus.send(topic, bytes);
      },
      listen: bus.listen.bind(bus),
      ask: bus.ask.bind(bus),
      answer: bus.answer.bind(bus),
      waitingBytes: 0,
      refusedMessages: 0,
      reconnect: () => bus.reconnect(),
      close: () => bus.close(),
    };
  }
}

const NO_BYTES = new Uint8Array(0);
