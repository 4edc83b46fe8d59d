import { SharedClock } from '../clock/shared_clock.js';
import { streamMarks } from '../clock/signed_times.js';
import type { FeedSource } from '../feed/feed_source.js';
import { createSharedAccess } from '../server/access/shared_access.js';
import type { ListenOptions } from '../server/uws/app.js';
import type { Store } from '../store/store.js';
import { type EdgeOptions, openEdge } from './edge.js';
import { type EdgeSet, onlyEdge } from './edge_set.js';
import type { LoadedThread } from './threads/loaded_thread.js';
import { openThreadedEdges, type ThreadedEdgesCounters } from './threads/threaded_edges.js';

export interface OpenEdgesOptions extends Omit<EdgeOptions, 'place' | 'access' | 'marks' | 'store'> {
  /** Their threads; without any there is one edge on the calling thread. */
  readonly loaded: readonly LoadedThread[];
  readonly loadThread: () => LoadedThread;
  /** Of the process among those that sign with its key. */
  readonly node: number;
  readonly store: Store;
  readonly source: Pick<FeedSource, 'snapshot' | 'feedTo'>;
  readonly counters: EdgeOptions['counters'] & ThreadedEdgesCounters;
  /** Claimed. */
  readonly at: ListenOptions;
}

/** Opens the edges of a service; they serve when this resolves. @throws Error when the address is in use or TLS cannot start. */
export async function openEdges(options: OpenEdgesOptions): Promise<EdgeSet> {
  const { clock, store, source, loaded, node } = options;
  const { marks, starkSymbols } = store;
  const access = createSharedAccess(Math.max(1, loaded.length));
  if (loaded.length === 0) {
    const edge = await openEdge({ ...options, marks, access, place: { node, thread: 0 } });
    edge.begin(source.snapshot());
    source.feedTo(edge);
    await edge.listen();
    return onlyEdge(edge);
  }
  const sharedClock = new SharedClock(clock);
  const { simulation } = options;
  return openThreadedEdges({
    ...options,
    access,
    sharedClock,
    startOf: (thread) => {
      const place = { node, thread };
      return { place, marks: streamMarks(marks, place), starkSymbols, simulation };
    },
  });
}
