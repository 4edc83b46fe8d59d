import { IdMapping } from '../cluster/ticks/id_mapping.js';
import { clusterConfigHash } from '../config/cluster_hash.js';
import type { Signer } from '../model/node_list.js';
import { type Settings, signersOf } from './settings.js';

/** The facts of a configuration that other nodes receive: computing them takes hashes and curve arithmetic, so that is done once. */
export class NodeFacts {
  readonly taxonomy: IdMapping;
  /** The hash of what must be equal on all nodes. */
  readonly configHash: Uint8Array;
  readonly signers: readonly Signer[];

  /** @param startedS UNIX seconds: the start of this process */
  constructor(settings: Settings, startedS: number) {
    this.taxonomy = new IdMapping(settings.catalogue.listed);
    this.configHash = clusterConfigHash(settings.config);
    this.signers = signersOf(settings, startedS);
  }
}
