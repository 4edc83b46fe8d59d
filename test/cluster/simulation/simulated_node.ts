import { type Bus, LOG_START, type LogPosition } from '../../../src/cluster/bus.js';
import type { Term } from '../../../src/cluster/leading/term.js';
import type { LogBatch } from '../../../src/cluster/log/log_batch.js';
import { ClusterMember } from '../../../src/cluster/member.js';
import { TICK_TOPIC } from '../../../src/cluster/subjects.js';
import type { ClusterTiming } from '../../../src/cluster/timing.js';
import type { Agenda } from './agenda.js';
import type { Invariants } from './invariants.js';
import type { MessageServers } from './message_servers.js';
import type { Random } from './random.js';
import {
  aggregateEntry,
  inputEntry,
  nameOf,
  numberOf,
  priceOf,
  readEntry,
  TAXONOMIES,
  type Update,
} from './sample.js';
import { SimulatedBus } from './simulated_bus.js';

/** The longest interval of ticks. The service's ticker has the same interval. */
const TICK_MS_MAX = 250;

/** A mutation of the tested code. */
export interface Mutant {
  /** Wraps the bus of a node. */
  readonly bus?: (bus: Bus, node: SimulatedNode) => Bus;
  /** True if ticks are sent without checking the lease. */
  readonly skipsLease?: boolean;
}

export interface NodeOptions {
  readonly number: number;
  readonly role: 'aggregator' | 'edge';
  readonly agenda: Agenda;
  readonly random: Random;
  readonly servers: MessageServers;
  readonly buses: Set<SimulatedBus>;
  readonly invariants: Invariants;
  readonly timing: ClusterTiming;
  readonly mutant: Mutant;
}

/** The data that the store of a node kept. The newest records may be missing. */
interface Kept {
  readonly position: LogPosition;
  readonly prices: ReadonlyMap<number, number>;
  /** The time at which the newest aggregate of each asset was signed. */
  readonly signed: ReadonlyMap<number, number>;
  readonly signedAtUs: number;
}

/** A node with its processes, of which only one runs at a time. The node is a small service around the real {@link ClusterMember}. */
export class SimulatedNode {
  readonly #options: NodeOptions;
  readonly name: string;
  /** The error of the wall clock of the node's machine. */
  readonly #skewUs: number;
  /** The rate of the machine's monotonic clock, which is a little more or less than 1. */
  readonly #rate: number;
  #kept: Kept = { position: LOG_START, prices: new Map(), signed: new Map(), signedAtUs: 0 };
  #runs = 0;
  #process: Process | undefined;
  isCut = false;
  isHealthy = true;
  /** True if the wall clock counts as right; `undefined` before the first verdict. */
  hasRightClock: boolean | undefined = true;
  taxonomy = TAXONOMIES[0]!;

  constructor(options: NodeOptions) {
    this.#options = options;
    this.name = `n${options.number}`;
    this.#skewUs = Math.floor(options.random.between(-2e6, 2e6));
    this.#rate = options.random.between(0.998, 1.002);
  }

  get process(): Process | undefined {
    return this.#process;
  }

  get role(): 'aggregator' | 'edge' {
    return this.#options.role;
  }

  start(): void {
    if (this.#process !== undefined) return;
    this.#process = new Process(this, this.#options, this.#kept, `${this.name}.${++this.#runs}`);
    this.#process.start();
  }

  kill(): void {
    this.#process?.end();
    this.#process = undefined;
  }

  /** The data with which the node's next process starts. */
  get kept(): Kept {
    return this.#kept;
  }

  keep(kept: Kept): void {
    this.#kept = kept;
  }

  /** Returns the time of the node's monotonic clock. */
  nowMs(): number {
    return this.#options.agenda.nowMs * this.#rate + 5_000;
  }

  /** Returns the time of the node's wall clock. */
  nowUs(): number {
    return Math.floor(this.#options.agenda.nowMs * 1_000) + this.#skewUs + 10_000_000;
  }
}

/** A process of a node. */
export class Process {
  readonly #node: SimulatedNode;
  readonly #options: NodeOptions;
  readonly #bus: SimulatedBus;
  readonly member: ClusterMember;
  /** The work that arrived while the process was paused. */
  #backlog: (() => void)[] | undefined;
  #isDead = false;
  #term: Term | undefined;
  readonly #prices: Map<number, number>;
  readonly #signed: Map<number, number>;
  /** The updates of each asset that arrived in this term. */
  readonly #accepted = new Map<number, number[]>();
  #position: LogPosition;
  #signedAtUs: number;
  readonly #run: string;
  /** The ticks that its readers see, by asset. */
  readonly table = new Map<number, bigint>();
  /** The time of the signature of each asset's aggregate that readers of the process see; `undefined` before they see any. */
  latest: ReadonlyMap<number, number> | undefined;

  constructor(node: SimulatedNode, options: NodeOptions, kept: Kept, run: string) {
    this.#node = node;
    this.#run = run;
    this.#options = options;
    this.#prices = new Map(kept.prices);
    this.#signed = new Map(kept.signed);
    this.#position = kept.position;
    this.#signedAtUs = kept.signedAtUs;
    const { agenda, servers, buses, random, number, role, timing, mutant } = options;
    this.#bus = new SimulatedBus(
      { agenda, servers, others: () => buses, onNode: (work) => this.run(work), isCut: () => node.isCut },
      random.below(3),
    );
    buses.add(this.#bus);
    const observed = this.#observed(this.#bus);
    this.member = new ClusterMember({
      bus: mutant.bus?.(observed, node) ?? observed,
      host: {
        apply: (batch, position) => this.#apply(batch, position),
        caughtUp: () => {
          this.latest = this.#signed;
        },
        missing: () => {},
        skipped: (reason) => {
          this.#position = this.member.applied;
          options.invariants.skipped(node.name, reason);
        },
        restored: () => {},
        lead: (term) => this.#lead(term),
        stepDown: () => {
          this.#term = undefined;
        },
        prices: {
          priced: (asset, price) => {
            options.invariants.priced(node.name, numberOf(asset), Number(price));
            this.table.set(numberOf(asset), price);
          },
          ended: (asset) => this.table.delete(numberOf(asset)),
        },
        healthy: () => node.isHealthy,
        clockIsRight: () => node.hasRightClock,
        fatal: (reason) => options.invariants.fatal(node.name, reason),
      },
      role,
      node: number,
      name: node.name,
      run,
      configHash: () => NO_BYTES,
      signers: () => [],
      taxonomy: () => node.taxonomy,
      applied: kept.position,
      timing: mutant.skipsLease ? { ...timing, tickLeaseMs: 1e9 } : timing,
      nowMs: () => node.nowMs(),
      defer: (callback) => agenda.after(0, () => this.run(callback)),
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

  /** Receives a publisher's update. Only a leading node accepts the update. */
  publish({ asset, value }: Update, durable: boolean): void {
    const term = this.#term;
    if (term === undefined) return;
    this.#options.invariants.published(asset, value);
    this.#price(term, asset, value);
    const before = this.#accepted.get(asset) ?? [];
    term.append(inputEntry({ asset, value }, before));
    this.#accepted.set(asset, [...before, value]);
    this.#signedAtUs = Math.max(this.#node.nowUs(), this.#signedAtUs + 1);
    term.append(aggregateEntry({ asset, value, signedAtUs: this.#signedAtUs }));
    if (durable)
      term.durable().then(
        () => this.#options.invariants.acknowledged(value),
        () => {},
      );
  }

  /** Ends an asset's price. */
  endPrice(asset: number): void {
    this.table.delete(asset);
    this.#term?.ended(nameOf(asset));
  }

  #tick(): void {
    if (this.#isDead) return;
    this.run(() => {
      this.member.tick();
      const waitMs = Math.min(Math.max(this.member.nextDueMs() - this.#node.nowMs(), 1), TICK_MS_MAX);
      this.#options.agenda.after(waitMs, () => this.#tick());
    });
  }

  #apply({ entries }: LogBatch, position: LogPosition): void {
    const { invariants, servers, random } = this.#options;
    invariants.applies(this.#node.name, position, servers.log);
    this.#position = position;
    for (const entry of entries) {
      const { isInput, asset, value, signedAtUs } = readEntry(entry);
      if (isInput) this.#prices.set(asset, value);
      else {
        this.#signedAtUs = Math.max(this.#signedAtUs, signedAtUs);
        this.#signed.set(asset, signedAtUs);
        invariants.shown(asset, value, signedAtUs);
      }
    }
    if (random.chance(0.3))
      this.#node.keep({
        position,
        prices: new Map(this.#prices),
        signed: new Map(this.#signed),
        signedAtUs: this.#signedAtUs,
      });
  }

  #lead(term: Term): void | Promise<void> {
    const { agenda, random } = this.#options;
    const begin = () => {
      this.#term = term;
      this.#accepted.clear();
      for (const [asset, value] of this.#prices) this.#price(term, asset, value);
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

  #price(term: Term, asset: number, value: number): void {
    this.table.set(asset, priceOf(value));
    term.priced(nameOf(asset), priceOf(value));
  }

  /** Wraps a bus so that the invariants see the node's messages. */
  #observed(bus: SimulatedBus): Bus {
    const { invariants } = this.#options;
    return {
      append: (after: LogPosition, id: string, bytes: Uint8Array) => {
        invariants.writes(this.#run, after, this.#position, id);
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
