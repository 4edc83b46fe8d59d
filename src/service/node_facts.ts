import { IdMapping } from '../cluster/ticks/id_mapping.js';
import { clusterConfigHash } from '../config/cluster_hash.js';
import type { Settings } from './settings.js';

/** The facts of a configuration that other nodes receive. They are computed once, because they need hashes and curve arithmetic. */
export class NodeFacts {
  readonly taxonomy: IdMapping;
  /** The hash of the settings that must be equal on all nodes. */
  readonly configHash: Uint8Array;

  constructor(settings: Settings) {
    this.taxonomy = new IdMapping(settings.catalogue.listed, settings.config.service.taxonomyId);
    this.configHash = clusterConfigHash(settings.config);
  }
}
