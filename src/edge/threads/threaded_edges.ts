import type { Logger } from 'pino';
import type { PublishReceiver } from '../../aggregator/publisher_session.js';
import type { SharedClock } from '../../clock/shared_clock.js';
import { writeStreamMark } from '../../clock/signed_times.js';
import type { Config } from '../../config/config.js';
import { bytesFeed } from '../../feed/feed_bytes.js';
import type { FeedSource } from '../../feed/feed_source.js';
import { type Counters, sumOf } from '../../metrics/counters.js';
import type { NodeList } from '../../model/node_list.js';
import type { TimeNs } from '../../model/time.js';
import { CallerRights } from '../../server/access/caller_rights.js';
import { forgetThread, type SharedAccess } from '../../server/access/shared_access.js';
import type { ListenOptions } from '../../server/uws/app.js';
import type { Store } from '../../store/store.js';
import type { Identity } from '../edge.js';
import type { EdgeSet } from '../edge_set.js';
import { EdgeThread, type EdgeThreadHost, type EdgeThreadOptions } from './edge_thread.js';
import type { LoadedThread } from './loaded_thread.js';
import { RemotePublishers } from './remote_publishers.js';
import type { ThreadStart } from './thread_messages.js';

export interface ThreadedEdgesOptions {
  /** The threads of the first edges. */
  readonly loaded: readonly LoadedThread[];
  /** Loads the thread of one that takes the place of another. */
  readonly loadThread: () => LoadedThread;
  readonly config: Config;
  readonly identity: Identity;
  readonly nodes: NodeList;
  /** Claimed. */
  readonly at: ListenOptions;
  /** What the edges count and issue together. */
  readonly access: SharedAccess;
  /** Shows them the time. */
  readonly sharedClock: SharedClock;
  /** The rest of what a thread is started with, by its number. */
  readonly startOf: (thread: number) => Pick<ThreadStart, StartedWith>;
  readonly source: Pick<FeedSource, 'snapshot' | 'feedTo'>;
  readonly store: Pick<Store, 'durable' | 'marks' | 'noticeDamage' | 'watchCommits'>;
  /** Takes what publishers send to the edges. */
  readonly receiver: PublishReceiver;
  readonly counters: ThreadedEdgesCounters;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
  /** What the ring of a thread's feed holds, where it is not {@link RING_BYTES}: a power of two. */
  readonly ringBytes?: number;
  readonly silenceMsMax?: EdgeThreadOptions['silenceMsMax'];
}

type StartedWith = 'place' | 'marks' | 'starkSymbols' | 'simulation';

/** Counts since the start. */
export interface ThreadedEdgesCounters {
  /** Threads that ended unasked or hung; each was replaced. */
  threadFailures: number;
  /** Times that a thread was so far behind that it had to be told everything anew. */
  threadOverruns: number;
}

/** Some 5 s of a feed of 1,000 assets at 2 Hz with five inputs each. */
const RING_BYTES = 16 * 1024 * 1024;
/** So that a thread that cannot start does not take a core with its attempts. */
const REPLACEMENT_DELAY_MS = 100;

/**
 * Opens edges on threads of their own, which share the port. One that ends or hangs takes only its own connections with it, and is
 * replaced.
 * @throws Error when the address is in use or TLS cannot start.
 */
export async function openThreadedEdges(options: ThreadedEdgesOptions): Promise<EdgeSet> {
  const edges = new ThreadedEdges(options);
  try {
    await edges.start();
  } catch (error) {
    await edges.close();
    throw error;
  }
  return edges;
}

class ThreadedEdges implements EdgeSet {
  readonly #options: ThreadedEdgesOptions;
  readonly #feed = bytesFeed((kind, sequence, bytes) => {
    for (const thread of this.#threads.values()) thread.write(kind, sequence, bytes);
  });
  /** By number; one that is being replaced is missing. */
  readonly #threads = new Map<number, EdgeThread>();
  readonly #replacements = new Set<NodeJS.Timeout>();
  /** What threads that ended had counted. */
  #ended: Counters[] = [];
  readonly #rights: CallerRights;
  readonly #host: EdgeThreadHost;
  #settings: { readonly config: Config; readonly identity: Identity };
  #nodes: NodeList;
  #isAccepting = true;
  #isStopping = false;

  readonly priced = this.#feed.priced;
  readonly recorded = this.#feed.recorded;
  readonly withdrawn = this.#feed.withdrawn;
  readonly ended = this.#feed.ended;
  readonly applied = this.#feed.applied;
  readonly committing = this.#feed.committing;
  readonly committed = this.#feed.committed;

  constructor(options: ThreadedEdgesOptions) {
    this.#options = options;
    this.#settings = options;
    this.#nodes = options.nodes;
    this.#rights = new CallerRights(options.config);
    const { store, source, counters, logger } = options;
    store.watchCommits({
      begun: (commit) => this.committing(commit),
      settled: (isOnDisk) => this.committed(isOnDisk),
    });
    this.#host = {
      snapshot: () => source.snapshot(),
      written: () => store.durable(),
      writeMark: (number, timeNs) =>
        new Promise((resolve) => writeStreamMark(store.marks, number, timeNs, resolve)),
      log: ({ level, about, text }) => logger[level](about, text),
      damage: (reason) => store.noticeDamage(reason),
      overrun: () => {
        counters.threadOverruns++;
      },
    };
  }

  tick(nowNs: TimeNs): void {
    this.#options.sharedClock.tick(nowNs);
  }

  get port(): number {
    return this.#options.at.port;
  }

  get count(): number {
    return [...this.#threads.values()].filter(({ isListening }) => isListening).length;
  }

  get feedBytesWaiting(): number {
    return Math.max(0, ...[...this.#threads.values()].map(({ waitingBytes }) => waitingBytes));
  }

  async start(): Promise<void> {
    this.#options.source.feedTo(this);
    await Promise.all(this.#options.loaded.map((loaded, number) => this.#open(number, loaded).listening));
  }

  reload(config: Config, identity: Identity): void {
    this.#settings = { config, identity };
    this.#rights.reload(config);
    for (const thread of this.#threads.values()) thread.reload(config, identity);
  }

  async report() {
    const reports = await Promise.all([...this.#threads.values()].map((thread) => thread.report()));
    return {
      counters: [...this.#ended, ...reports.map(({ counters }) => counters)],
      serving: reports.map(({ serving }) => serving),
      lateNsMax: reports.reduce((most, { lateNsMax }) => (lateNsMax > most ? lateNsMax : most), 0n),
    };
  }

  troubles(): readonly string[] {
    return [...new Set([...this.#threads.values()].flatMap(({ troubles }) => troubles))];
  }

  setNodes(nodes: NodeList): void {
    this.#nodes = nodes;
    for (const thread of this.#threads.values()) thread.setNodes(nodes);
  }

  storeChanged(): void {
    for (const thread of this.#threads.values()) thread.begin();
  }

  setAccepting(accepting: boolean): void {
    this.#isAccepting = accepting;
    for (const thread of this.#threads.values()) thread.setAccepting(accepting);
  }

  handOver(): void {
    this.#isStopping = true;
    for (const thread of this.#threads.values()) thread.handOver();
  }

  async drain(): Promise<void> {
    this.#isStopping = true;
    for (const replacement of this.#replacements) clearTimeout(replacement);
    const { drainMs } = this.#options.config.limits;
    await Promise.all([...this.#threads.values()].map((thread) => thread.drain(drainMs)));
  }

  async close(): Promise<void> {
    this.#isStopping = true;
    for (const replacement of this.#replacements) clearTimeout(replacement);
    await Promise.all([...this.#threads.values()].map((thread) => thread.exit()));
  }

  #open(number: number, loaded: LoadedThread): EdgeThread {
    const {
      at,
      access,
      sharedClock,
      receiver,
      counters,
      logger,
      startOf,
      ringBytes = RING_BYTES,
      ...rest
    } = this.#options;
    const { config, identity } = this.#settings;
    const thread = new EdgeThread({
      loaded,
      start: {
        ...startOf(number),
        clock: sharedClock.memory,
        at,
        access,
        config,
        identity,
        nodes: this.#nodes,
      },
      ringBytes,
      silenceMsMax: rest.silenceMsMax,
      host: this.#host,
      publishers: new RemotePublishers({ receiver, rightsOf: (caller) => this.#rights.of(caller) }),
      onFailure: (error) => {
        counters.threadFailures++;
        logger.error({ err: error }, 'a thread that serves sockets is being replaced');
      },
      onExit: () => {
        this.#threads.delete(number);
        forgetThread(access, number);
        void thread.report().then(({ counters }) => {
          this.#ended = [sumOf([...this.#ended, counters])];
        });
        if (!this.#isStopping) this.#replaceLater(number);
      },
    });
    this.#threads.set(number, thread);
    return thread;
  }

  #replaceLater(number: number): void {
    const replacement = setTimeout(() => {
      this.#replacements.delete(replacement);
      const thread = this.#open(number, this.#options.loadThread());
      thread.listening.then(
        () => thread.setAccepting(this.#isAccepting),
        // A thread that cannot listen exits; `onExit` handles it.
        () => {},
      );
    }, REPLACEMENT_DELAY_MS);
    this.#replacements.add(replacement);
  }
}
