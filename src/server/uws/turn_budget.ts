import { threadCpuMs } from './thread_cpu.js';

/**
 * The number of requests that a thread answers in a turn of its event loop. One read from a connection may contain thousands of
 * pipelined requests, and uWebSockets.js passes all of them on in the same turn. Without this limit, ticks, other readers and the
 * watchdog would wait for all of them.
 */
export const REQUESTS_PER_TURN = 128;

/**
 * The CPU time from which a turn counts as long. The real time does not count, because on a busy machine other processes use most
 * of the real time.
 */
export const LONG_TURN_MS = 100;
/** The number of messages of one connection in a long turn. A further message ends the connection. */
export const MESSAGES_IN_LONG_TURN_MAX = 100;
/** The number of messages of one connection in a turn after which the thread begins to read the CPU time. */
const TIMED_FROM = MESSAGES_IN_LONG_TURN_MAX / 2;
/** The number of messages between two readings of the CPU time. A reading takes 10 µs. */
const MESSAGES_PER_READING = 10;

/** A connection that sends messages, and the fields that it stores. */
export interface TurnSender {
  turn: number;
  messagesInTurn: number;
}

/**
 * Spreads requests over the turns of the event loop. While an answer is due, uWebSockets.js parses nothing more from the
 * connection, and ends the connection when more requests arrive. So a client that pipelines more requests than the budget allows
 * loses its connection. A client that waits for its answer receives the answer one turn later.
 */
export class TurnBudget {
  readonly #endOfTurn: (callback: () => void) => void;
  readonly #late: (() => void)[] = [];
  readonly #onWork: () => void;
  readonly #cpuMs: () => number;
  #left = REQUESTS_PER_TURN;
  #isScheduled = false;
  #turn = 0;
  /** The CPU time at message {@link TIMED_FROM} of a connection in this turn; `undefined` before that message. */
  #startMs: number | undefined;

  /**
   * @param endOfTurn calls back once, after the event loop has handled the data read in this turn; for example `setImmediate`
   * @param onWork called for each message and request
   * @param cpuMs returns the CPU time of the thread in milliseconds
   */
  constructor(
    endOfTurn: (callback: () => void) => void,
    onWork: () => void = () => {},
    cpuMs: () => number = threadCpuMs,
  ) {
    this.#endOfTurn = endOfTurn;
    this.#onWork = onWork;
    this.#cpuMs = cpuMs;
  }

  /**
   * Counts a message of a connection.
   * @returns `false` when the turn lasts too long and the connection has sent many messages in this turn
   */
  countMessage(sender: TurnSender): boolean {
    this.#schedule();
    this.#onWork();
    if (sender.turn !== this.#turn) {
      sender.turn = this.#turn;
      sender.messagesInTurn = 0;
    }
    sender.messagesInTurn += 1;
    if (sender.messagesInTurn < TIMED_FROM) return true;
    this.#startMs ??= this.#cpuMs();
    const isChecked =
      sender.messagesInTurn > MESSAGES_IN_LONG_TURN_MAX && sender.messagesInTurn % MESSAGES_PER_READING === 1;
    return !isChecked || this.#cpuMs() - this.#startMs < LONG_TURN_MS;
  }

  /**
   * Takes a request.
   * @returns `false` when the request must wait for {@link later}, because the budget of this turn is used up or other requests wait
   */
  take(): boolean {
    this.#schedule();
    this.#onWork();
    if (this.#left === 0 || this.#late.length > 0) return false;
    this.#left -= 1;
    return true;
  }

  /** Answers a request in a later turn. Each connection has at most one waiting request, which bounds the queue. */
  later(answer: () => void): void {
    this.#late.push(answer);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#turn += 1;
    this.#startMs = undefined;
    this.#endOfTurn(() => this.#startTurn());
  }

  #startTurn(): void {
    this.#isScheduled = false;
    const due = this.#late.splice(0, REQUESTS_PER_TURN);
    this.#left = REQUESTS_PER_TURN - due.length;
    if (due.length > 0) this.#schedule();
    for (const answer of due) answer();
  }
}
