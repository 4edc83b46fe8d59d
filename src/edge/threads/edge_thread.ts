import type { Worker } from 'node:worker_threads';
import { createRingMemory, RingWriter } from '../../feed/byte_ring.js';
import type { Snapshot } from '../../feed/feed.js';
import { sentSnapshot } from '../../feed/sent_snapshot.js';
import { createCounters } from '../../metrics/counters.js';
import type { EdgeCommand } from '../edge_command.js';
import { within } from './deadline.js';
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
  readonly ringBytes: number;
  /** After how long without a turn of its event loop the thread counts as hung, where it is not {@link SILENCE_MS_MAX}. */
  readonly silenceMsMax?: number | undefined;
  readonly host: EdgeThreadHost;
  readonly publishers: RemotePublishers;
  /** Called once when the thread ends unasked, or hangs and is being ended. */
  readonly onFailure: (error: Error) => void;
  /** Called when the thread has ended, or was left to itself; all its connections are closed by then. */
  readonly onExit: () => void;
}

/** What the thread of an edge needs of the main thread. */
export interface EdgeThreadHost {
  snapshot(): Snapshot;
  /** Resolves when all that was recorded so far is on disk; rejects while the disk fails. */
  written(): Promise<void>;
  /** Writes a mark of the times of streaming payloads; resolves with whether it is on disk. */
  writeMark(number: number, timeNs: bigint): Promise<boolean>;
  log(event: Extract<ThreadEvent, { on: 'log' }>): void;
  damage(reason: string): void;
  /** The thread was too far behind, and is told everything anew. */
  overrun(): void;
}

/** Some hundred times the longest turn of a thread under full load. */
const SILENCE_MS_MAX = 5_000;
/** A thread that starts loads its modules in one turn: it may be silent this many times as long. */
const START_SILENCES = 12;
/** How long a thread may take for its end before it is ended in the middle of what it does. */
const EXIT_MS_MAX = 1_500;
/** And how long the end of the service then waits for one that does not come back from native code. */
const FORCED_EXIT_MS_MAX = 3_000;
/** How much longer than configured a thread may take to close its connections. */
const DRAIN_SLACK_MS = 2_000;
/** How often it is looked whether a thread that was too far behind has taken all that it was sent. */
const BEHIND_CHECK_MS = 20;
/** How long a beginning waits for the disk. A thread that then misses something shows an older price for a while. */
const WRITTEN_MS_MAX = 10_000;
/** How long a thread may take to tell its counts before the ones before count. */
const REPORT_MS_MAX = 500;

/** An edge on a thread of its own, as the main thread has it. */
export class EdgeThread {
  readonly #options: EdgeThreadOptions;
  readonly #worker: Worker;
  readonly #ring: RingWriter;
  readonly #asks = new PendingReplies();
  readonly #commands: Outbox<ThreadCommand>;
  readonly #watch: Watchdog;
  readonly #exited: Promise<void>;
  /** It has ended, or is left to itself. */
  #leave!: () => void;
  #hasExited = false;
  #isExiting = false;
  #isBeingEnded = false;
  /** It is not written to until it has taken all that it was sent, and is then told everything anew. */
  #behind: NodeJS.Timeout | undefined;
  /** How often it was told everything. */
  #beginnings = 0;
  #report: ThreadReport = {
    counters: createCounters(),
    serving: { connections: 0, streamConnections: 0, streamGroups: 0, streamsAheadSeconds: 0 },
    lateNsMax: 0n,
  };
  #troubles: readonly string[] = [];
  /** Resolves when the thread listens. @throws Error when it cannot. */
  readonly listening: Promise<void>;
  isListening = false;

  constructor(options: EdgeThreadOptions) {
    const { loaded, start, ringBytes, silenceMsMax = SILENCE_MS_MAX, onFailure, onExit } = options;
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
    this.#watch.start(START_SILENCES * silenceMsMax);
    this.#worker.on('error', fail);
    this.#exited = new Promise((resolve) => {
      this.#leave = () => {
        if (this.#hasExited) return;
        this.#hasExited = true;
        this.#watch.stop();
        clearInterval(this.#behind);
        this.isListening = false;
        this.#asks.end('the thread ended');
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
            this.#watch.start(silenceMsMax);
            resolve();
          } else if (event.on !== 'loaded') this.#take(event);
        }
      });
      void this.#exited.then(() => reject(failure ?? new Error('a thread ended before it listened')));
    });
    this.#commands.send({ do: 'start', start: { ...start, ring } });
    this.begin();
  }

  /** Bytes of the feed that it has not taken yet. */
  get waitingBytes(): number {
    return this.#ring.waiting;
  }

  /** What is wrong with its times, as it told last. */
  get troubles(): readonly string[] {
    return this.#troubles;
  }

  /** Writes a message of the feed. When there is no room the thread begins anew as soon as it has taken what it was sent. */
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

  /** Its counts; those that it told last, when it does not answer. */
  async report(): Promise<ThreadReport> {
    if (this.isListening) {
      const answer = this.#asks
        .ask<ThreadReport>((ask) => this.#commands.send({ do: 'report', ask }))
        .then((report) => {
          this.#report = report;
        });
      await within(
        REPORT_MS_MAX,
        answer.catch(() => {}),
      );
    }
    return this.#report;
  }

  /** Resolves when its connections are closed, or can be waited for no longer. @param drainMs `limits.drain` */
  async drain(drainMs: number): Promise<void> {
    if (!this.isListening) return;
    const drained = this.#asks.ask((ask) => this.#commands.send({ do: 'drain', ask }));
    await within(
      drainMs + DRAIN_SLACK_MS,
      drained.catch(() => {}),
    );
  }

  /** Closes what is open and ends the thread. @returns when it has ended, or can be waited for no longer. */
  async exit(): Promise<void> {
    this.#isExiting = true;
    this.#commands.send({ do: 'exit' });
    await within(EXIT_MS_MAX, this.#exited);
    // One that is ended while it loads a native add-on aborts the process; it has nothing open yet.
    this.#options.loaded.loaded.then(
      () => this.#end(),
      () => {},
    );
    await within(FORCED_EXIT_MS_MAX, this.#exited);
    this.#worker.unref();
  }

  /** Tells the thread everything, and has it read the store anew. */
  begin(): void {
    clearInterval(this.#behind);
    this.#behind = undefined;
    const { snapshot, written } = this.#options.host;
    this.#commands.send({ do: 'begin', snapshot: sentSnapshot(snapshot()) });
    const beginning = ++this.#beginnings;
    void within(
      WRITTEN_MS_MAX,
      written().catch(() => {}),
    ).then(() => {
      // The disk may not have yet what a later beginning says.
      if (beginning === this.#beginnings) this.#commands.send({ do: 'load' });
    });
  }

  /** Ends the thread whatever its JavaScript does, or leaves it to itself. */
  async #end(): Promise<void> {
    if (this.#isBeingEnded || this.#hasExited) return;
    this.#isBeingEnded = true;
    this.isListening = false;
    await endByForce(this.#worker, this.#exited);
    this.#leave();
  }

  #take(event: Exclude<ThreadEvent, { on: 'listening' | 'failed' | 'loaded' }>): void {
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
      case 'mark':
        answerWith(event.ask, host.writeMark(event.number, event.timeNs), answer);
        break;
      case 'answer':
        this.#asks.answered(event);
        break;
      case 'troubles':
        this.#troubles = event.troubles;
        break;
      case 'damage':
        host.damage(event.reason);
        break;
      case 'log':
        host.log(event);
    }
  }
}
