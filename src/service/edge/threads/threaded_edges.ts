import type { SharedClock } from '../../../clock/shared_clock.js';
import { writeStreamMark } from '../../../clock/signed_times.js';
import { bytesFeed } from '../../../log/feed/feed_bytes.js';
import type { FeedSource } from '../../../log/feed/feed_source.js';
import type { Store } from '../../../log/store/store.js';
import { type Counters, sumOf } from '../../../model/counters.js';
import type { TimeNs } from '../../../model/time.js';
import { CallerRights } from '../../../server/access/caller_rights.js';
import { forgetThread, type SharedAccess } from '../../../server/access/shared_access.js';
import type { ListenOptions } from '../../../server/uws/app.js';
import type { EdgeCommand, EdgeSettings } from '../edge_command.js';
import type { EdgeHooks } from '../edge_hooks.js';
import type { EdgeSet } from '../edge_set.js';
import { EdgeThread, type EdgeThreadHost } from './edge_thread.js';
import type { LoadedThread } from './loaded_thread.js';
import { RemotePublishers } from './remote_publishers.js';
import type { ThreadStart } from './thread_messages.js';

interface ThreadedEdgesOptions {
  /** The settings at the start. Commands change the settings later. */
  readonly settings: EdgeSettings;
  /** The address on which the edges listen. The caller has already claimed the port. */
  readonly at: ListenOptions;
  readonly threads: ThreadSupply;
  /** Returns the other start data of the thread with this number. */
  readonly startOf: (thread: number) => Pick<ThreadStart, 'place' | 'marks' | 'simulation'>;
  readonly parts: ThreadedEdgesParts;
  readonly hooks: Pick<EdgeHooks, 'receiver' | 'askPast' | 'onSigned' | 'onPastDamage' | 'logger'>;
}

export interface ThreadSupply {
  /** The threads of the first edges. */
  readonly loaded: readonly LoadedThread[];
  /** Loads a thread for an edge that replaces another edge. */
  readonly loadThread: () => LoadedThread;
}

/** The parts that all threads share, and the main thread's parts that serve the threads. */
export interface ThreadedEdgesParts {
  readonly access: SharedAccess;
  /** The clock whose time the threads read. */
  readonly sharedClock: SharedClock;
  readonly source: FeedSource;
  readonly store: Pick<Store, 'written' | 'marks' | 'noticeDamage'>;
  readonly counters: ThreadedEdgesCounters;
}

/** Counts since the start. */
export interface ThreadedEdgesCounters {
  /** The number of threads that hung or ended without a request. Another thread replaced each of them. */
  threadFailures: number;
  /** The number of times that a thread received everything again, because the thread was too far behind. */
  threadOverruns: number;
}

/** The size of a ring. Such a ring holds about 5 s of a feed with 1,000 assets at 2 Hz and five inputs each. */
const RING_BYTES = 16 * 1024 * 1024;
/** The delay before a replacement starts. Without this delay, a thread that can never start would use a whole core for its attempts. */
const REPLACEMENT_DELAY_MS = 100;

/**
 * Opens edges that each have their own thread and share the port. A thread that ends or hangs loses only its own connections, and another
 * thread replaces it.
 * @throws Error when the address is in use or TLS cannot start
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
  /** The threads by number. During its replacement, a thread is missing. */
  readonly #threads = new Map<number, EdgeThread>();
  readonly #replacements = new Set<NodeJS.Timeout>();
  /** The counts of the threads that have ended. */
  #ended: Counters[] = [];
  readonly #rights: CallerRights;
  readonly #host: EdgeThreadHost;
  #settings: EdgeSettings;
  #isAccepting = true;
  #isStopping = false;

  readonly priced = this.#feed.priced;
  readonly recorded = this.#feed.recorded;
  readonly withdrawn = this.#feed.withdrawn;
  readonly ended = this.#feed.ended;
  readonly applied = this.#feed.applied;

  constructor(options: ThreadedEdgesOptions) {
    this.#options = options;
    this.#settings = options.settings;
    this.#rights = new CallerRights(options.settings.config);
    const { store, source, counters } = options.parts;
    const { askPast, onSigned, onPastDamage, logger } = options.hooks;
    this.#host = {
      snapshot: () => source.snapshot(),
      written: () => store.written(),
      writeMark: (number, timeNs) =>
        new Promise((resolve) => writeStreamMark(store.marks, number, timeNs, resolve)),
      askPast: async (question, tried) => askPast?.(question, tried),
      log: ({ level, about, text }) => logger[level](about, text),
      signed: (hashes) => onSigned?.(hashes),
      damage: (of, reason) => (of === 'past' ? onPastDamage(reason) : store.noticeDamage(reason)),
      overrun: () => {
        counters.threadOverruns++;
      },
    };
  }

  tick(nowNs: TimeNs): void {
    this.#options.parts.sharedClock.tick(nowNs);
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
    const { parts, threads } = this.#options;
    parts.source.feedTo(this);
    await Promise.all(threads.loaded.map((loaded, number) => this.#openThread(number, loaded).listening));
  }

  tell(command: EdgeCommand): void {
    this.#noteCommand(command);
    for (const thread of this.#threads.values()) thread.tell(command);
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

  async drain(): Promise<void> {
    this.#isStopping = true;
    for (const replacement of this.#replacements) clearTimeout(replacement);
    const { drainMs } = this.#options.settings.config.limits;
    await Promise.all([...this.#threads.values()].map((thread) => thread.drain(drainMs)));
  }

  async close(): Promise<void> {
    this.#isStopping = true;
    for (const replacement of this.#replacements) clearTimeout(replacement);
    await Promise.all([...this.#threads.values()].map((thread) => thread.exit()));
  }

  /** Stores the effect of the command for threads that replace other threads. */
  #noteCommand(command: EdgeCommand): void {
    if (command.do === 'reload') {
      const { config, identity } = command;
      this.#settings = { ...this.#settings, config, identity };
      this.#rights.reload(config);
    } else if (command.do === 'setNodes') this.#settings = { ...this.#settings, nodes: command.nodes };
    else if (command.do === 'setAccepting') this.#isAccepting = command.accepting;
    else if (command.do === 'handOver') this.#isStopping = true;
  }

  #openThread(number: number, loaded: LoadedThread): EdgeThread {
    const { at, startOf, parts, hooks } = this.#options;
    const { access, sharedClock, counters } = parts;
    const { receiver, logger } = hooks;
    const thread = new EdgeThread({
      loaded,
      start: { ...startOf(number), settings: this.#settings, at, access, clock: sharedClock.memory },
      ringBytes: RING_BYTES,
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
      const thread = this.#openThread(number, this.#options.threads.loadThread());
      thread.listening.then(
        () => thread.tell({ do: 'setAccepting', accepting: this.#isAccepting }),
        // A thread that cannot listen exits; `onExit` handles it.
        () => {},
      );
    }, REPLACEMENT_DELAY_MS);
    this.#replacements.add(replacement);
  }
}
