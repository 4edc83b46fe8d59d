import type { StreamSession } from './group.js';
import { TAXONOMY_CHANGED } from './request.js';
import type { StreamCatalogue } from './stream_catalogue.js';

/** Notifies the sessions whose assets receive other streaming IDs. No frame may contain the new IDs before this call. */
export function tellMovedAssets(
  sessions: Iterable<StreamSession>,
  before: StreamCatalogue,
  after: StreamCatalogue,
): void {
  const ids = new Map(before.listed.map(({ index, id }) => [index, id]));
  const moved = after.listed.filter(({ index, id }) => ids.has(index) && ids.get(index) !== id);
  const indices = new Set(moved.map(({ index }) => index));
  if (indices.size === 0) return;
  for (const { assets, connection } of sessions)
    if (assets.some((index) => indices.has(index))) connection.send(TAXONOMY_CHANGED);
}
