import { Random } from '../../random.js';
import { DATA_FAULTS, type FaultKind, SERVICE_FAULTS } from './faults.js';
import { ASSETS } from './sample.js';

/** A schedule as data, so that a run can omit parts. A seed determines the schedule. */
export interface Plan {
  readonly seed: number;
  readonly aggregators: number;
  /** The time at which the last faults end. */
  readonly faultsMs: number;
  readonly updates: readonly PlannedUpdate[];
  readonly faults: readonly PlannedFault[];
}

export interface PlannedUpdate {
  readonly atMs: number;
  readonly asset: number;
  readonly durable: boolean;
  /**
   * The place of the node to which the publisher is connected. If it is `undefined`, each node receives a separate update, as if
   * it were the leader; if several nodes lead, each of them accepts its update.
   */
  readonly node: number | undefined;
  /** True if the price of the asset ends first. */
  readonly ends: boolean;
}

export interface PlannedFault {
  readonly atMs: number;
  readonly kind: FaultKind;
  readonly lastsMs: number;
  /** The index of the affected node; `leader` for the node that leads at that time. */
  readonly node: number | 'leader';
  /** The seed of the other choices of the fault. */
  readonly seed: number;
}

const FIRST_UPDATE_MS = 1_100;
/** The time after which the last asset has no updates, so that only checkpoints keep its input in the log. */
const SLOW_ASSET_MS = 1_800;
/** The share of schedules in which servers lose or damage records. */
const DATA_SCHEDULES = 0.4;
/** The share of such faults in these schedules. */
const DATA_SHARE = 0.35;

/** Returns the schedule of a seed. */
export function planOf(seed: number): Plan {
  const random = new Random(seed);
  const aggregators = random.chance(0.7) ? 2 : 3;
  const faultsMs = random.between(2_000, 6_000);
  const dataShare = random.chance(DATA_SCHEDULES) ? DATA_SHARE : 0;
  const updates: PlannedUpdate[] = [];
  for (let atMs = FIRST_UPDATE_MS; atMs < faultsMs; atMs += random.between(20, 300))
    updates.push({
      atMs,
      asset: random.pick(atMs < SLOW_ASSET_MS ? ASSETS : ASSETS.slice(0, -1)),
      durable: random.chance(0.4),
      node: random.chance(0.6) ? random.below(aggregators + 1) : undefined,
      ends: random.chance(0.05),
    });
  const faults: PlannedFault[] = [];
  for (let count = 2 + random.below(7); count > 0; count--)
    faults.push({
      atMs: random.between(1_000, faultsMs - 500),
      kind: random.pick(random.chance(dataShare) ? DATA_FAULTS : SERVICE_FAULTS),
      lastsMs: random.chance(0.3) ? random.between(1_500, 4_000) : random.between(50, 1_500),
      node: random.chance(0.5) ? 'leader' : random.below(aggregators + 1),
      seed: Math.floor(random.next() * 2 ** 32),
    });
  return { seed, aggregators, faultsMs, updates, faults: faults.sort((one, other) => one.atMs - other.atMs) };
}
