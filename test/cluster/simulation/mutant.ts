import type { Bus } from '../../../src/cluster/bus.js';
import type { SimulatedNode } from './simulated_node.js';

/** A mutation of the tested code. */
export interface Mutant {
  /** Wraps the bus of a node. */
  readonly bus?: (bus: Bus, node: SimulatedNode) => Bus;
  /** True if the mutant sends ticks without checking the lease. */
  readonly skipsLease?: boolean;
  /** Replaces a method of a class of the tested code for the duration of a run. @returns a function that restores the method */
  readonly patch?: () => () => void;
}
