/** Where progress is shown: a terminal, or not at all. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Work that ends sooner shows nothing. */
const SILENT_MS = 500;
const UPDATE_MS = 100;
/** Back to the start of the line, and clears it. */
const CLEAR_LINE = '\r\x1b[K';

/** One line on a terminal that says how far some work is; nothing in a pipe. */
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

  /** @param total in the unit of `done`, where it is known */
  update(what: string, done: number, total?: number): void {
    if (this.#nowMs() < this.#nextMs) return;
    this.#nextMs = this.#nowMs() + UPDATE_MS;
    const share = total === undefined ? done.toLocaleString('en') : percentText(done, total);
    this.show(`${what}: ${share}`);
  }

  /** Shows a text at once, for steps that take seconds. */
  show(text: string): void {
    if (this.#stream.isTTY !== true) return;
    this.#isShown = true;
    this.#stream.write(`${CLEAR_LINE}${text}`);
  }

  /** Removes the line. Called before anything else is written, and at the end. */
  clear(): void {
    if (this.#isShown) this.#stream.write(CLEAR_LINE);
    this.#isShown = false;
  }
}

function percentText(done: number, total: number): string {
  return `${total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100))} %`;
}
