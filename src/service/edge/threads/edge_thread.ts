import type { Worker } from 'node:worker_threads';
import { createRingMemory, RingWriter } from '../../../log/feed/byte_ring.js';
import type { Snapshot } from '../../../log/feed/feed.js';
import { sentSnapshot } from '../../../log/feed/sent_snapshot.js';
import { createCounters } from '../../../model/counters.js';
import type { EdgeCommand } from '../edge_command.js';
import type { AskPast } from '../other_pasts.js';
import { settledWithin } from './deadline.js';
import { endByForce } from './forced_end.js';
import type { LoadedThread } from './loaded_thread.js';
import { answerWith, Outbox, PendingReplies } from './pending_replies.js';
import type { RemotePublishers } from './remote_publishers.js';
import type {
  ThreadAnswer,
  ThreadCommand,
  ThreadEvent,
  ThreadReport,
  ThreadStart,
} from './thread_messages.js';
import { Watchdog } from './watchdog.js';

export interface EdgeThreadOptions {
  readonly loaded: LoadedThread;
  readonly start: Omit<ThreadStart, 'ring'>;
  /** The size of the ring for the thread's feed, a power of two. */
  readonly ringBytes: number;
  readonly host: EdgeThreadHost;
  readonly publishers: RemotePublishers;
  /** Called once, when the thread ends without a request, or when the thread hangs and the main thread begins to end it. */
  readonly onFailure: (error: Error) => void;
  /** Called when the thread has ended or was abandoned. All connections of the thread are then closed. */
  readonly onExit: () => void;
}

/** The functions of the main thread that serve an edge's thread. */
export interface EdgeThreadHost {
  snapshot(): Snapshot;
  /** Resolves when the thread finds all existing records on disk. Rejects while the disk fails. */
  written(): Promise<void>;
  /** Writes a mark of the times of streaming payloads. Resolves with true when the mark is on disk. */
  writeMark(number: number, timeNs: bigint): Promise<boolean>;
  /** Asks other nodes about their past. */
  askPast: AskPast;
  log(event: Extract<ThreadEvent, { on: 'log' }>): void;
  /** Receives the hashes of payloads that the thread signed. */
  signed(hashes: Uint8Array): void;
  damage(of: 'store' | 'past', reason: string): void;
  /** Called when the thread was too far behind and must receive everything again. */
  overrun(): void;
}

/** The time without a turn of its event loop after which a thread counts as hung. This time is several hundred times the longest turn of a thread under full load. */
const SILENCE_MS_MAX = 5_000;
/** The factor of the silence limit for a starting thread, because such a thread loads its modules in one turn. */
const START_SILENCES = 12;
/** The longest time in which a thread may end by itself. After this time, the main thread ends it in the middle of its work. */
const EXIT_MS_MAX = 1_500;
/**
 * The longest wait, after {@link EXIT_MS_MAX}, for a thread that does not return from native code. This wait delays the end of the
 * service.
 */
const FORCED_EXIT_MS_MAX = 3_000;
/** The time that a thread has to close its connections, in addition to the configured time. */
const DRAIN_SLACK_MS = 2_000;
/** The interval at which the main thread checks whether a lagging thread has read its whole ring. */
const BEHIND_CHECK_MS = 20;
/**
 * The longest wait for the disk when a thread begins. After this time, the thread may miss some records, and then shows older prices for
 * a while.
 */
const WRITTEN_MS_MAX = 10_000;
/** The longest time in which a thread may report its counts. After this time, the main thread uses the last report. */
const REPORT_MS_MAX = 500;

/** An edge with its own thread, from the view of the main thread. */
export class EdgeThread {
  readonly #options: EdgeThreadOptions;
  readonly #worker: Worker;
  readonly #ring: RingWriter;
  readonly #replies = new PendingReplies();
  readonly #commands: Outbox<ThreadCommand>;
  readonly #watch: Watchdog;
  readonly #exited: Promise<void>;
  /** Called when the thread has ended or is abandoned. */
  #leave!: () => void;
  #hasExited = false;
  #isExiting = false;
  #isBeingEnded = false;
  /**
   * The timer of a thread that is too far behind. Such a thread receives no messages until the thread has read its whole ring. Then the
   * thread receives everything again.
   */
  #behind: NodeJS.Timeout | undefined;
  /** The number of times that the thread received everything. */
  #beginnings = 0;
  #report: ThreadReport = {
    counters: createCounters(),
    serving: { connections: 0, streamConnections: 0, streamGroups: 0, streamsAheadSeconds: 0 },
    lateNsMax: 0n,
  };
  #troubles: readonly string[] = [];
  /**
   * Resolves when the thread listens.
   * @throws Error when the thread cannot listen
   */
  readonly listening: Promise<void>;
  isListening = false;

  constructor(options: EdgeThreadOptions) {
    const { loaded, start, ringBytes, onFailure, onExit } = options;
    this.#options = options;
    const ring = createRingMemory(ringBytes);
    this.#ring = new RingWriter(ring);
    this.#worker = loaded.worker;
    this.#commands = new Outbox((commands) => this.#worker.postMessage(commands), queueMicrotask);
    let failure: Error | undefined;
    const fail = (error: Error) => {
      if (failure !== undefined || this.#isExiting) return;
      failure = error;
      onFailure(error);
    };
    this.#watch = new Watchdog(loaded.liveness, () => {
      this.isListening = false;
      fail(new Error('the thread hangs'));
      void this.#end();
    });
    this.#watch.start(START_SILENCES * SILENCE_MS_MAX);
    this.#worker.on('error', fail);
    this.#exited = new Promise((resolve) => {
      this.#leave = () => {
        if (this.#hasExited) return;
        this.#hasExited = true;
        this.#watch.stop();
        clearInterval(this.#behind);
        this.isListening = false;
        this.#replies.end('the thread ended');
        fail(new Error('the thread ended'));
        onExit();
        resolve();
      };
      this.#worker.on('exit', this.#leave);
    });
    this.listening = new Promise((resolve, reject) => {
      this.#worker.on('message', (events: readonly ThreadEvent[]) => {
        for (const event of events) {
          if (event.on === 'failed') reject(new Error(event.error));
          else if (event.on === 'listening') {
            this.isListening = true;
            this.#watch.start(SILENCE_MS_MAX);
            resolve();
          } else if (event.on !== 'loaded') this.#handleEvent(event);
        }
      });
      void this.#exited.then(() => reject(failure ?? new Error('a thread ended before it listened')));
    });
    this.#commands.send({ do: 'start', start: { ...start, ring } });
    this.begin();
  }

  /** The number of bytes of the feed that the thread has not read yet. */
  get waitingBytes(): number {
    return this.#ring.waiting;
  }

  /** The problems with the thread's times, according to the thread's last report. */
  get troubles(): readonly string[] {
    return this.#troubles;
  }

  /** Writes a message of the feed. If the ring has no free space, the thread begins again as soon as the thread has read its ring. */
  write(kind: number, sequence: number, bytes: Uint8Array): void {
    if (this.#behind !== undefined) return;
    if (!this.#ring.write(kind, sequence, bytes)) {
      this.#options.host.overrun();
      this.#behind = setInterval(() => {
        if (this.#ring.waiting === 0) this.begin();
      }, BEHIND_CHECK_MS);
      return;
    }
    const { last } = this.#commands;
    if (last?.do === 'feed') last.count++;
    else this.#commands.send({ do: 'feed', count: 1 });
  }

  tell(command: EdgeCommand): void {
    if (command.do === 'storeChanged') this.begin();
    else this.#commands.send(command);
  }

  /** Returns the thread's counts. If the thread does not answer, returns the counts of its last report. */
  async report(): Promise<ThreadReport> {
    if (this.isListening) {
      const answer = this.#replies
        .ask<ThreadReport>((ask) => this.#commands.send({ do: 'report', ask }))
        .then((report) => {
          this.#report = report;
        });
      await settledWithin(
        REPORT_MS_MAX,
        answer.catch(() => {}),
      );
    }
    return this.#report;
  }

  /**
   * Resolves when the thread's connections are closed, or when the time limit has passed.
   * @param drainMs `limits.drain`
   */
  async drain(drainMs: number): Promise<void> {
    if (!this.isListening) return;
    const drained = this.#replies.ask((ask) => this.#commands.send({ do: 'drain', ask }));
    await settledWithin(
      drainMs + DRAIN_SLACK_MS,
      drained.catch(() => {}),
    );
  }

  /** Closes everything that is open, and ends the thread. Resolves when the thread has ended, or when the time limit has passed. */
  async exit(): Promise<void> {
    this.#isExiting = true;
    this.#commands.send({ do: 'exit' });
    await settledWithin(EXIT_MS_MAX, this.#exited);
    // The main thread waits until the thread has loaded. Ending a thread while it loads a native add-on would abort the process. A thread
    // that is still loading has no connections.
    this.#options.loaded.loaded.then(
      () => this.#end(),
      () => {},
    );
    await settledWithin(FORCED_EXIT_MS_MAX, this.#exited);
    this.#worker.unref();
  }

  /** Sends everything to the thread, and makes it read the store again. */
  begin(): void {
    clearInterval(this.#behind);
    this.#behind = undefined;
    const { snapshot, written } = this.#options.host;
    this.#commands.send({ do: 'begin', snapshot: sentSnapshot(snapshot()) });
    const beginning = ++this.#beginnings;
    void settledWithin(
      WRITTEN_MS_MAX,
      written().catch(() => {}),
    ).then(() => {
      // After a later beginning, the data of that beginning may not be on disk yet.
      if (beginning === this.#beginnings) this.#commands.send({ do: 'load' });
    });
  }

  /** Ends the thread in any state of its JavaScript, or abandons the thread. */
  async #end(): Promise<void> {
    if (this.#isBeingEnded || this.#hasExited) return;
    this.#isBeingEnded = true;
    this.isListening = false;
    await endByForce(this.#worker, this.#exited);
    this.#leave();
  }

  #handleEvent(event: Exclude<ThreadEvent, { on: 'listening' | 'failed' | 'loaded' }>): void {
    const { host, publishers } = this.#options;
    const answer = (known: ThreadAnswer) => this.#commands.send({ do: 'answer', ...known });
    switch (event.on) {
      case 'publish':
        answerWith(event.ask, publishers.receive(event.session, event.message), answer);
        break;
      case 'publisher':
        publishers.opened(event.session, event);
        break;
      case 'publisherClosed':
        publishers.closed(event.session);
        break;
      case 'askPast':
        answerWith(event.ask, host.askPast(event.question, [...event.tried]), answer);
        break;
      case 'mark':
        answerWith(event.ask, host.writeMark(event.number, event.timeNs), answer);
        break;
      case 'answer':
        this.#replies.answered(event);
        break;
      case 'troubles':
        this.#troubles = event.troubles;
        break;
      case 'signed':
        host.signed(event.hashes);
        break;
      case 'damage':
        host.damage(event.of, event.reason);
        break;
      case 'log':
        host.log(event);
    }
  }
}
