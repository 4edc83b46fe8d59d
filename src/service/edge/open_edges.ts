import { SharedClock } from '../../clock/shared_clock.js';
import { streamMarks } from '../../clock/signed_times.js';
import type { FeedSource } from '../../log/feed/feed_source.js';
import type { Store } from '../../log/store/store.js';
import { createSharedAccess } from '../../server/access/shared_access.js';
import type { ListenOptions } from '../../server/uws/app.js';
import { handlesForClients } from '../../server/uws/file_handles.js';
import { openEdge, type SharedEdgeOptions, type ThreadParts } from './edge.js';
import { type EdgeSet, onlyEdge } from './edge_set.js';
import { openThreadedEdges, type ThreadSupply } from './threads/threaded_edges.js';

export interface OpenEdgesOptions extends SharedEdgeOptions {
  /** The address on which the edges listen. The caller has already claimed the port. */
  readonly at: ListenOptions;
  /** The number of the process among all processes that sign with the same key. */
  readonly node: number;
  /** The threads of the edges. Without loaded threads, one edge runs on the calling thread. */
  readonly threads: ThreadSupply;
  readonly parts: OpenEdgesParts;
}

export interface OpenEdgesParts extends ThreadParts {
  readonly store: Store;
  readonly source: FeedSource;
}

/**
 * Opens the edges of a service. Resolves when the edges serve.
 * @throws Error when the address is in use or TLS cannot start
 */
export async function openEdges(options: OpenEdgesOptions): Promise<EdgeSet> {
  const { settings, catalogueOf, simulation, hooks, at, node, threads, parts } = options;
  const { webSockets, clock, pool, counters, store, source } = parts;
  const { marks } = store;
  const access = createSharedAccess(Math.max(1, threads.loaded.length), handlesForClients());
  if (threads.loaded.length === 0) {
    const edge = await openEdge({
      settings,
      catalogueOf,
      at,
      place: { node, thread: 0 },
      simulation,
      parts: { webSockets, access, clock, marks, store, pool, counters },
      hooks,
    });
    edge.begin(source.snapshot());
    source.feedTo(edge);
    await edge.listen().catch(async (error: unknown) => {
      await edge.close();
      throw error;
    });
    return onlyEdge(edge);
  }
  return openThreadedEdges({
    settings,
    at,
    threads,
    startOf: (thread) => {
      const place = { node, thread };
      return { place, marks: streamMarks(marks, place), simulation };
    },
    parts: { access, sharedClock: new SharedClock(clock), source, store, counters },
    hooks,
  });
}
