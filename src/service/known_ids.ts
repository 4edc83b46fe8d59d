import type { ClusterMember } from '../cluster/member.js';
import type { IdMapping } from '../cluster/ticks/id_mapping.js';
import { IDS_UNKNOWN } from '../cluster/ticks/leader_names.js';
import type { Config } from '../config/config.js';
import type { Problem } from '../config/document.js';
import { type ChangedId, IDS_FILE, meaningText, StreamingIds } from '../log/store/streaming_ids.js';

/** An error for a configuration that gives streaming IDs another meaning than before. */
export class ChangedIdsError extends Error {
  override readonly name = 'ChangedIdsError';
  /** The IDs, each with its key path. */
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problems.map(({ path, message }) => `assets[${path[1]}].id: ${message}`).join('; '));
    this.problems = problems;
  }
}

/** Finds the assets of a configuration whose IDs have had another meaning in its data folder, or the damage of the folder's list. */
export function idProblems({ storage, service, assets }: Config): Problem[] {
  let ids: StreamingIds;
  try {
    ids = StreamingIds.read(storage.dir);
  } catch (error) {
    return [{ path: ['storage', 'dir'], message: (error as Error).message }];
  }
  return ids.changedBy(service.taxonomyId, assets).map((one) => problemOf(one, service.taxonomyId));
}

/**
 * Adds the IDs of a configuration to the list on disk, before the service says what they mean.
 * @throws ChangedIdsError when an ID has had another meaning; Error when the list cannot be written. The list has then not changed.
 */
export function keepIds(ids: StreamingIds, { service, assets }: Config): void {
  const changed = ids.changedBy(service.taxonomyId, assets);
  if (changed.length > 0) throw new ChangedIdsError(changed.map((one) => problemOf(one, service.taxonomyId)));
  ids.add(service.taxonomyId, assets);
}

/**
 * Compares the meaning of the leader's streaming IDs with the list of this node. Adds the leader's IDs to the list, so a later reload
 * cannot contradict them.
 * @returns the reason why this node must not serve its own meaning
 */
export function refuseIds(ids: StreamingIds, leader: IdMapping, { service }: Config): string | undefined {
  const { taxonomyId = service.taxonomyId, assets } = leader;
  const [changed] = ids.changedBy(taxonomyId, assets);
  if (changed !== undefined) {
    const { asset, before } = changed;
    return `streaming ID ${asset.id} means ${meaningText(asset)} on the leader, and has meant ${meaningText(before)} on this node under taxonomy_id ${taxonomyId}: correct the node that is wrong and remove its ${IDS_FILE}, or raise service.taxonomy_id on all nodes`;
  }
  try {
    ids.add(taxonomyId, assets);
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
}

/** Returns false while the streaming IDs of this node contradict those of the leader. */
export function mayLead({ idsRefusal }: ClusterMember['ticks']): boolean {
  return idsRefusal === undefined || idsRefusal === IDS_UNKNOWN;
}

function problemOf({ at, asset, before }: ChangedId, taxonomyId: number): Problem {
  const message = `${asset.id} means ${meaningText(asset)} here, and has meant ${meaningText(before)} under taxonomy_id ${taxonomyId}: raise service.taxonomy_id, or give ${asset.symbol} an ID that was never used`;
  return { path: ['assets', at, 'id'], message };
}
