import type { Config } from '../config/config.js';
import type { Problem } from '../config/document.js';
import { type ChangedId, meaningText, StreamingIds } from '../store/streaming_ids.js';

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

function problemOf({ at, asset, before }: ChangedId, taxonomyId: number): Problem {
  const message = `${asset.id} means ${meaningText(asset)} here, and has meant ${meaningText(before)} under taxonomy_id ${taxonomyId}: raise service.taxonomy_id, or give ${asset.symbol} an ID that was never used`;
  return { path: ['assets', at, 'id'], message };
}
