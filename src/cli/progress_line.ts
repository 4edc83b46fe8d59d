import { visibleText } from '../wire/foreign_text.js';

/** The stream that shows progress. The program shows progress only on a terminal. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** The time after which work begins to show its progress. */
const SILENT_MS = 500;
const UPDATE_MS = 100;
/** The control characters that return to the start of the line and clear it. */
const CLEAR_LINE = '\r\x1b[K';

/** A line on a terminal that shows the progress of some work. On other streams the class writes nothing. */
export class Progress {
  readonly #stream: ProgressStream;
  readonly #nowMs: () => number;
  #nextMs: number;
  #isShown = false;

  constructor(stream: ProgressStream, nowMs = () => performance.now()) {
    this.#stream = stream;
    this.#nowMs = nowMs;
    this.#nextMs = nowMs() + SILENT_MS;
  }

  /** @param total the whole amount in the unit of `done`, if known */
  update(what: string, done: number, total?: number): void {
    if (this.#nowMs() < this.#nextMs) return;
    this.#nextMs = this.#nowMs() + UPDATE_MS;
    const share = total === undefined ? done.toLocaleString('en') : percentText(done, total);
    this.show(`${what}: ${share}`);
  }

  /** Shows a text immediately, for steps that take seconds. */
  show(text: string): void {
    if (this.#stream.isTTY !== true) return;
    this.#isShown = true;
    this.#stream.write(`${CLEAR_LINE}${visibleText(text)}`);
  }

  /** Removes the line. The caller must call this before any other output, and at the end. */
  clear(): void {
    if (this.#isShown) this.#stream.write(CLEAR_LINE);
    this.#isShown = false;
  }
}

function percentText(done: number, total: number): string {
  return `${total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100))} %`;
}
