import type { MessagePort } from 'node:worker_threads';
import { OUTBOX_HANDLED, OUTBOX_SENT, type ThreadEvent, type ThreadReport } from './thread_messages.js';
import { BEAT_MS, type LivenessSignal } from './watchdog.js';

/** What an event weighs beside its text. */
const EVENT_WEIGHT = 256;
/** Events are sent on when the turn of the event loop ends, or when this much is together. */
const REPORT_WEIGHT = 256 * 1024;
/** How much may be with the main thread; some 0.2 s of its work when each message has one update. */
const UNHANDLED_WEIGHT_MAX = 4 * 1024 * 1024;

/**
 * Takes what happens at a serving thread to the main thread, in one message per turn of the event loop. While the main thread is
 * too far behind, the serving thread stands still, and with it what its clients send: as if the main thread had read it itself.
 */
export class EventOutbox {
  readonly #port: MessagePort;
  readonly #memory: Int32Array;
  readonly #liveness: LivenessSignal;
  #events: ThreadEvent[] = [];
  #weight = 0;

  constructor(port: MessagePort, memory: SharedArrayBuffer, liveness: LivenessSignal) {
    this.#port = port;
    this.#memory = new Int32Array(memory);
    this.#liveness = liveness;
  }

  /** @param textLength of the text that the event carries. */
  post(event: ThreadEvent, textLength = 0): void {
    if (this.#events.length === 0) setImmediate(() => this.send());
    this.#events.push(event);
    this.#weight += EVENT_WEIGHT + textLength;
    if (this.#weight >= REPORT_WEIGHT) this.send();
  }

  /** Sends what is together. */
  send(): void {
    if (this.#events.length === 0) return;
    const report: ThreadReport = { events: this.#events, weight: this.#weight };
    this.#port.postMessage(report);
    const sent = (Atomics.add(this.#memory, OUTBOX_SENT, this.#weight) + this.#weight) | 0;
    this.#events = [];
    this.#weight = 0;
    for (;;) {
      const handled = Atomics.load(this.#memory, OUTBOX_HANDLED);
      if (((sent - handled) | 0) <= UNHANDLED_WEIGHT_MAX) return;
      Atomics.wait(this.#memory, OUTBOX_HANDLED, handled, BEAT_MS);
      this.#liveness.beat();
    }
  }
}
