import type { ClusterTiming } from '../../../src/cluster/timing.js';
import { Agenda } from './agenda.js';
import { Invariants } from './invariants.js';
import { FAIR, MessageServers, SERVERS } from './message_servers.js';
import { Random } from './random.js';
import { ASSETS, priceOf, TAXONOMIES } from './sample.js';
import type { SimulatedBus } from './simulated_bus.js';
import { type Mutant, type Process, SimulatedNode } from './simulated_node.js';

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
  regressedMs: 30_000,
};

/** The time after the last fault within which a node must lead and all nodes must know all updates. */
const SETTLE_MS_MAX = 12_000;
const SETTLE_STEP_MS = 250;

export interface ScheduleOptions {
  readonly mutant?: Mutant;
  /** True if the servers may lose acknowledged records. Such a loss is a violation. */
  readonly losesRecords?: boolean;
}

export interface Outcome {
  readonly violations: readonly string[];
  readonly epochs: number;
  readonly records: number;
  readonly acknowledged: number;
}

/** Runs the schedule of faults of a seed. */
export async function simulate(seed: number, options: ScheduleOptions = {}): Promise<Outcome> {
  const simulation = new Simulation(seed, options);
  await simulation.run();
  const { invariants, servers } = simulation;
  return {
    violations: invariants.violations,
    epochs: invariants.epochCount,
    records: servers.log.length,
    acknowledged: invariants.acknowledgedCount,
  };
}

class Simulation {
  readonly #agenda = new Agenda();
  readonly #random: Random;
  readonly #options: ScheduleOptions;
  readonly invariants = new Invariants(() => this.#agenda.nowMs, TIMING.tickLeaseMs);
  readonly servers: MessageServers;
  readonly #nodes: SimulatedNode[] = [];
  #value = 0;

  constructor(seed: number, options: ScheduleOptions) {
    this.#random = new Random(seed);
    this.#options = options;
    const agenda = this.#agenda;
    const random = this.#random;
    this.servers = new MessageServers({
      agenda,
      random,
      committed: (record) => this.invariants.committed(record),
    });
    const aggregators = random.chance(0.7) ? 2 : 3;
    const buses = new Set<SimulatedBus>();
    for (let number = 1; number <= aggregators + 1; number++)
      this.#nodes.push(
        new SimulatedNode({
          number,
          role: number <= aggregators ? 'aggregator' : 'edge',
          agenda,
          random,
          servers: this.servers,
          buses,
          invariants: this.invariants,
          timing: TIMING,
          mutant: options.mutant ?? {},
        }),
      );
  }

  async run(): Promise<void> {
    const random = this.#random;
    const faultsMs = random.between(2_000, 6_000);
    for (const node of this.#nodes) this.#agenda.at(random.between(0, 50), () => node.start());
    for (let atMs = 1_100; atMs < faultsMs; atMs += random.between(20, 300))
      this.#agenda.at(atMs, () => this.#publish(random.chance(0.3)));
    for (let faults = 2 + random.below(7); faults > 0; faults--)
      this.#agenda.at(random.between(1_000, faultsMs - 500), () => this.#fault());
    await this.#agenda.runUntil(faultsMs);
    this.#heal();
    await this.#settle(faultsMs);
    this.invariants.end();
  }

  get #processes(): Process[] {
    return this.#nodes.flatMap(({ process }) => process ?? []);
  }

  /**
   * Sends an update to all nodes, because the leader is not known yet. If several nodes lead, all of them accept the update.
   */
  #publish(durable: boolean): void {
    const asset = this.#random.pick(ASSETS);
    if (this.#random.chance(0.05))
      for (const process of this.#processes) process.run(() => process.endPrice(asset));
    for (const process of this.#processes) {
      const value = ++this.#value;
      process.run(() => process.publish({ asset, value }, durable));
    }
  }

  /** The node that a fault hits. Half of the faults hit the leader. */
  get #victim(): SimulatedNode {
    const leader = this.#nodes.find(({ process }) => process?.member.role === 'leader');
    return leader !== undefined && this.#random.chance(0.5) ? leader : this.#random.pick(this.#nodes);
  }

  /** Begins a fault. The fault ends some time later. */
  #fault(): void {
    const random = this.#random;
    const { servers } = this;
    const node = this.#victim;
    const lastsMs = random.chance(0.3) ? random.between(1_500, 4_000) : random.between(50, 1_500);
    const later = (run: () => void) => this.#agenda.after(lastsMs, run);
    const faults: (() => void)[] = [
      () => {
        node.kill();
        later(() => node.start());
      },
      () => {
        const { process } = node;
        void process?.member.resign().then(() => {
          if (node.process !== process) return;
          node.kill();
          this.#agenda.after(100, () => node.start());
        });
      },
      () => {
        const { process } = node;
        process?.pause();
        later(() => process?.resume());
      },
      () => {
        node.isHealthy = false;
        later(() => {
          node.isHealthy = true;
        });
      },
      () => {
        node.taxonomy = TAXONOMIES[1]!;
        node.process?.run(() => node.process?.member.reloaded());
      },
      () => {
        node.hasRightClock = false;
        later(() => {
          node.hasRightClock = true;
        });
      },
      () => {
        node.isCut = true;
        later(() => {
          node.isCut = false;
        });
      },
      () => {
        servers.heal();
        servers.cutOff(random.below(SERVERS));
        later(() => servers.heal());
      },
      () => {
        servers.weather = {
          loss: random.between(0, 0.4),
          duplicate: 0.1,
          late: 0.3,
          lateMs: random.between(5, 600),
        };
        later(() => {
          servers.weather = { ...FAIR };
        });
      },
      () => {
        servers.slowWrites = { chance: 0.5, ms: random.between(100, 2_500) };
        later(() => {
          servers.slowWrites = { chance: 0, ms: 0 };
        });
      },
    ];
    if (this.#options.losesRecords) faults.push(() => servers.loseTail(1 + random.below(4)));
    random.pick(faults)();
  }

  #heal(): void {
    const { servers } = this;
    servers.heal();
    servers.weather = { ...FAIR };
    servers.slowWrites = { chance: 0, ms: 0 };
    for (const node of this.#nodes) {
      node.isCut = false;
      node.isHealthy = true;
      node.hasRightClock = true;
      node.process?.resume();
      node.start();
    }
  }

  /** Waits until a node leads and later updates reach all nodes. */
  async #settle(fromMs: number): Promise<void> {
    let reason: string | undefined = 'nothing was tried';
    for (let ms = 0; ms < SETTLE_MS_MAX && reason !== undefined; ms += SETTLE_STEP_MS) {
      // Updates begin later, because messages that were on their way when the faults ended may still cause harm.
      if (ms >= 1_500) this.#publish(true);
      await this.#agenda.runUntil(fromMs + ms);
      reason = ms < 2_000 ? 'too early' : this.#disagreement();
    }
    if (reason !== undefined) this.invariants.unsettled(reason);
  }

  #disagreement(): string | undefined {
    const leaders = this.#nodes.filter(({ process }) => process?.member.role === 'leader');
    const leader = leaders[0]?.process;
    if (leader === undefined || leaders.length > 1) return `${leaders.length} nodes lead`;
    for (const { name, process } of this.#nodes) {
      if (process === undefined) return `${name} does not run`;
      const { member, table } = process;
      if (!member.isReady) return `${name} is not ready`;
      if (member.epoch !== leader.member.epoch) return `${name} is in epoch ${member.epoch}`;
      for (const asset of ASSETS)
        if (table.get(asset) !== leader.table.get(asset))
          return `${name} has ${table.get(asset)} for ${asset}, and the leader ${leader.table.get(asset)}`;
    }
    return leader.table.get(ASSETS[0]) === undefined ? `nothing has a price (${priceOf(0)})` : undefined;
  }
}
