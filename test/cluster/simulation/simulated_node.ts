import { LOG_START, type LogPosition } from '../../../src/cluster/bus.js';
import type { ClusterTiming } from '../../../src/cluster/timing.js';
import type { Random } from '../../random.js';
import type { Agenda } from './agenda.js';
import type { Invariants } from './invariants.js';
import type { MessageServers } from './message_servers.js';
import { TAXONOMIES } from './sample.js';
import type { SimulatedBus } from './simulated_bus.js';
import { Process } from './simulated_process.js';

export interface NodeOptions {
  readonly number: number;
  readonly role: 'aggregator' | 'edge';
  readonly agenda: Agenda;
  readonly random: Random;
  readonly servers: MessageServers;
  readonly buses: Set<SimulatedBus>;
  readonly invariants: Invariants;
  readonly timing: ClusterTiming;
  /** Called with a description of each event of the node. */
  readonly tell?: ((what: string) => void) | undefined;
}

/** The data in a node's store. The newest records may be missing. */
export interface Kept {
  readonly position: LogPosition;
  /** The ID of the last record that had an effect. */
  readonly lastId: string;
  /** The updates of each asset; the newest is the last. */
  readonly seen: ReadonlyMap<number, readonly number[]>;
  /** The time at which the newest aggregate of each asset was signed. */
  readonly signed: ReadonlyMap<number, number>;
  readonly signedAtUs: number;
}

const EMPTY: Kept = {
  position: LOG_START,
  lastId: '',
  seen: new Map(),
  signed: new Map(),
  signedAtUs: 0,
};

/** A node with its processes, of which only one runs at a time. The node is a small service around the real {@link ClusterMember}. */
export class SimulatedNode {
  readonly #options: NodeOptions;
  readonly name: string;
  /** The error of the machine's wall clock. */
  readonly #skewUs: number;
  /** The rate of the machine's monotonic clock, slightly above or below 1. */
  readonly #rate: number;
  #kept: Kept = EMPTY;
  /** The content of the store at an earlier time. */
  #before: Kept = EMPTY;
  #runs = 0;
  #process: Process | undefined;
  isCut = false;
  isHealthy = true;
  /** True if the wall clock counts as correct; `undefined` before the first verdict. */
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
    this.#options.tell?.(`${this.name} starts with the log up to ${this.#kept.position.sequence}`);
    this.#process = new Process(this, this.#options, this.#kept, `${this.name}.${++this.#runs}`);
    this.#process.start();
  }

  kill(): void {
    this.#process?.end();
    this.#process = undefined;
  }

  /** Stops the process cleanly: it first writes everything to its folder. */
  stop(): void {
    if (this.#process !== undefined) this.#kept = this.#process.state;
    this.kill();
  }

  /** The data with which the node's next process starts. */
  get kept(): Kept {
    return this.#kept;
  }

  keep(kept: Kept): void {
    this.#before = this.#kept;
    this.#kept = kept;
  }

  /** Replaces the folder by an older state, like a restored backup or a disk that lost writes. */
  forget(everything: boolean): void {
    this.#kept = everything ? EMPTY : this.#before;
  }

  /** Does what `tickseal store FOLDER --new-log` does. */
  forgetLog(): void {
    this.#kept = { ...this.#kept, position: LOG_START, lastId: '' };
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
