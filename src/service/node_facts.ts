import { IdMapping } from '../cluster/ticks/id_mapping.js';
import { clusterConfigHash } from '../config/cluster_hash.js';
import type { Signer } from '../model/node_list.js';
import { type Settings, signersOf } from './settings.js';

/**
 * The facts of a configuration that other nodes receive. The facts are computed once, because computing them takes hashes and curve
 * arithmetic.
 */
export class NodeFacts {
  readonly taxonomy: IdMapping;
  /** The hash of the settings that must be equal on all nodes. */
  readonly configHash: Uint8Array;
  readonly signers: readonly Signer[];

  /** @param startedS the start of this process, in UNIX seconds */
  constructor(settings: Settings, startedS: number) {
    this.taxonomy = new IdMapping(settings.catalogue.listed);
    this.configHash = clusterConfigHash(settings.config);
    this.signers = signersOf(settings, startedS);
  }
}
