import type { ClusterTiming } from '../../../src/cluster/timing.js';
import { Random } from '../../random.js';
import { Agenda } from './agenda.js';
import { FAULTS } from './faults.js';
import { Invariants } from './invariants.js';
import { FAIR, MessageServers } from './message_servers.js';
import { type Plan, type PlannedFault, type PlannedUpdate, planOf } from './plan.js';
import { ASSETS, priceOf } from './sample.js';
import type { SimulatedBus } from './simulated_bus.js';
import { SimulatedNode } from './simulated_node.js';
import type { Process } from './simulated_process.js';

export const TIMING: ClusterTiming = {
  leaseMs: 1_000,
  tickLeaseMs: 1_600,
  feedTimeoutMs: 3_000,
  heartbeatMs: 300,
  fullTableMs: 1_000,
  reportMs: 700,
  silenceMs: 1_500,
  logSilenceMs: 1_550,
  retryMs: 100,
  regressedMs: 6_000,
};

/** The time after the last fault within which a node must lead and all nodes must know all updates, or have stopped. */
const SETTLE_MS_MAX = 16_000;
const SETTLE_STEP_MS = 250;
/** The time for which the log keeps its records: ten rounds of checkpoints. */
const RETENTION_MS = 5_000;
/** The time within which a leader writes all inputs again. */
const ROUND_MS = 1_200;
/** The number of times that an operator restarts stopped nodes. */
const OPERATIONS_MAX = 3;

export interface ScheduleOptions {
  /** The schedule; default: the schedule of the seed. */
  readonly plan?: Plan;
  /** Called with a description of each event. */
  readonly tell?: (what: string) => void;
}

export interface Outcome {
  readonly violations: readonly string[];
  readonly epochs: number;
  readonly records: number;
  readonly acknowledged: number;
  readonly repeatedTimes: number;
}

/** Runs the schedule of a seed. */
export async function simulate(seed: number, options: ScheduleOptions = {}): Promise<Outcome> {
  const simulation = new Simulation(options.plan ?? planOf(seed), options);
  await simulation.run();
  const { invariants, servers, acknowledged } = simulation;
  return {
    violations: invariants.violations,
    epochs: invariants.epochCount,
    records: servers.log.length,
    acknowledged,
    repeatedTimes: invariants.repeatedTimes,
  };
}

class Simulation {
  readonly #agenda = new Agenda();
  readonly #plan: Plan;
  /** The random numbers of the network and of the nodes. */
  readonly #random: Random;
  readonly #tell: ((what: string) => void) | undefined;
  readonly invariants: Invariants;
  readonly servers: MessageServers;
  readonly #nodes: SimulatedNode[] = [];
  #value = 0;
  acknowledged = 0;

  constructor(plan: Plan, { tell }: ScheduleOptions) {
    this.#plan = plan;
    this.#random = new Random(~plan.seed);
    const agenda = this.#agenda;
    const random = this.#random;
    this.#tell = tell && ((what) => tell(`${agenda.nowMs.toFixed(1).padStart(8)} ms  ${what}`));
    const invariants = new Invariants(() => agenda.nowMs, TIMING.tickLeaseMs, this.#tell);
    this.invariants = invariants;
    this.servers = new MessageServers({
      agenda,
      random,
      committed: (record) => invariants.committed(record),
      lost: (records) => invariants.lost(records, this.servers.log),
      retentionMs: RETENTION_MS,
    });
    const buses = new Set<SimulatedBus>();
    for (let number = 1; number <= plan.aggregators + 1; number++)
      this.#nodes.push(
        new SimulatedNode({
          number,
          role: number <= plan.aggregators ? 'aggregator' : 'edge',
          agenda,
          random,
          servers: this.servers,
          buses,
          invariants,
          timing: TIMING,
          tell: this.#tell,
        }),
      );
  }

  async run(): Promise<void> {
    const { faultsMs, updates, faults } = this.#plan;
    for (const node of this.#nodes) this.#agenda.at(this.#random.between(0, 50), () => node.start());
    for (const update of updates) this.#agenda.at(update.atMs, () => this.#publish(update));
    for (const fault of faults) this.#agenda.at(fault.atMs, () => this.#begin(fault));
    await this.#agenda.runUntil(faultsMs);
    this.#heal();
    await this.#settle();
    for (let times = 0; times < OPERATIONS_MAX && this.#operate(); times++) await this.#settle();
    this.#end();
  }

  get #processes(): Process[] {
    return this.#nodes.flatMap(({ process }) => process ?? []);
  }

  #publish({ asset, durable, node, ends }: Omit<PlannedUpdate, 'atMs'>): void {
    if (ends) for (const process of this.#processes) process.run(() => process.endPrice(asset));
    if (node !== undefined) {
      const process = this.#nodes[node]?.process;
      const value = ++this.#value;
      process?.run(() => process.receive({ asset, value }, durable));
      return;
    }
    for (const process of this.#processes) {
      const value = ++this.#value;
      process.run(() => process.publish({ asset, value }, durable));
    }
  }

  #begin({ kind, node, seed, lastsMs }: PlannedFault): void {
    const leader = this.#nodes.find(({ process }) => process?.member.role === 'leader');
    const random = new Random(seed);
    const victim = (node === 'leader' ? leader : this.#nodes[node]) ?? random.pick(this.#nodes);
    const what = FAULTS[kind]({
      agenda: this.#agenda,
      servers: this.servers,
      nodes: this.#nodes,
      node: victim,
      random,
      lastsMs,
    });
    this.#tell?.(`FAULT for ${Math.round(lastsMs)} ms: ${what}`);
  }

  #heal(): void {
    const { servers } = this;
    this.#tell?.('all faults end');
    servers.heal();
    servers.weather = { ...FAIR };
    servers.slowWrites = { chance: 0, ms: 0 };
    servers.misplacedWrites = 0;
    for (const node of this.#nodes) {
      node.isCut = false;
      node.isHealthy = true;
      node.hasRightClock = true;
      node.process?.resume();
      node.start();
    }
  }

  /** Waits until a node leads and later updates reach all nodes that have not stopped. */
  async #settle(): Promise<void> {
    const fromMs = this.#agenda.nowMs;
    let reason: string | undefined = 'nothing was tried';
    for (let ms = 0; ms < SETTLE_MS_MAX && reason !== undefined; ms += SETTLE_STEP_MS) {
      // Updates begin later, because messages in transit at the end of the faults may still cause harm.
      if (ms >= 1_500)
        this.#publish({
          asset: this.#random.pick(ASSETS.slice(0, -1)),
          durable: true,
          node: this.#random.chance(0.5) ? this.#random.below(this.#nodes.length) : undefined,
          ends: false,
        });
      await this.#agenda.runUntil(fromMs + ms);
      reason = ms < 2_000 ? 'too early' : this.#disagreement();
    }
    if (reason !== undefined) this.invariants.unsettled(reason);
  }

  /**
   * Follows the documented procedure for stopped nodes. If an aggregator still runs, the other nodes discard their log state and
   * read the log again. Otherwise all nodes discard their log state, the servers get an empty log, and the node with the newest
   * aggregate starts first; of several such nodes, the one with the highest record. After a loss, a leader may have continued the
   * log, so a folder with a higher record can lack the newer aggregates.
   * @returns false when no node has stopped
   */
  #operate(): boolean {
    const stopped = this.#nodes.filter(({ process }) => process?.hasStopped);
    if (stopped.length === 0) return false;
    const isLeft = this.#nodes.some(({ role, process }) => role === 'aggregator' && !process?.hasStopped);
    if (isLeft) {
      this.#tell?.('the operator lets stopped nodes read the log from its beginning');
      for (const node of stopped) {
        node.stop();
        node.forgetLog();
        node.start();
      }
      return true;
    }
    for (const node of this.#nodes) node.stop();
    const silent = this.#nodes.filter((node) => !stopped.includes(node));
    const first = this.#nodes
      .filter(({ role }) => role === 'aggregator')
      .reduce((best, node) => (this.#isNewer(node, best) ? node : best));
    this.acknowledged += this.invariants.acknowledgedCount;
    this.invariants.giveUp(
      first.kept.lastId,
      silent.map(({ kept }) => kept.lastId),
    );
    this.#tell?.(`the operator makes a new log, and ${first.name} begins it`);
    for (const node of this.#nodes) node.forgetLog();
    this.servers.empty();
    first.start();
    this.#agenda.after(1_000, () => {
      for (const node of this.#nodes) node.start();
    });
    return true;
  }

  #isNewer({ kept: one }: SimulatedNode, { kept: other }: SimulatedNode): boolean {
    const newerMs = this.invariants.aggregatedMs(one.lastId) - this.invariants.aggregatedMs(other.lastId);
    return newerMs === 0 ? one.position.sequence > other.position.sequence : newerMs > 0;
  }

  #end(): void {
    const { invariants, servers } = this;
    for (const { name, process } of this.#nodes)
      if (process !== undefined && process.ledForMs > ROUND_MS)
        invariants.keepsInputs(name, process.prices, servers.log.slice(servers.firstSequence - 1));
    invariants.end(
      this.#nodes.flatMap(({ name, process }) =>
        process === undefined ? [] : [{ name, lastId: process.lastId, hasStopped: process.hasStopped }],
      ),
    );
    this.acknowledged += invariants.acknowledgedCount;
  }

  #disagreement(): string | undefined {
    const going = this.#nodes.filter(({ process }) => process?.hasStopped !== true);
    // If all aggregators have stopped, the others wait for the operator, or stop too.
    if (going.every(({ role }) => role !== 'aggregator')) {
      const { log } = this.servers;
      const late = going.find(({ process }) => process?.isAt(log) === false);
      return late && `${late.name} has not found the loss`;
    }
    const leaders = going.filter(({ process }) => process?.member.role === 'leader');
    const leader = leaders[0]?.process;
    if (leader === undefined || leaders.length > 1) return `${leaders.length} nodes lead`;
    for (const { name, process } of going) {
      if (process === undefined) return `${name} does not run`;
      const { member, table } = process;
      if (!member.isReady) return `${name} is not ready`;
      if (member.epoch !== leader.member.epoch) return `${name} is in epoch ${member.epoch}`;
      for (const asset of ASSETS)
        if (table.get(asset) !== leader.table.get(asset))
          return `${name} has ${table.get(asset)} for ${asset}, and the leader ${leader.table.get(asset)}`;
    }
    const isPriced = ASSETS.some((asset) => leader.table.has(asset));
    return isPriced ? undefined : `nothing has a price (${priceOf(0)})`;
  }
}
