/** The period in which the same warning is shown only once. */
const QUIET_MS = 60_000;
/** The largest number of different warnings that a source may show within {@link QUIET_MS}. */
const SHOWN_MAX = 60;
/** The largest number of different warnings in memory. The log drops the oldest warnings. */
const WARNINGS_MAX = 1_000;
const CHARACTERS_MAX = 400;
/** Characters that would begin another line, or control a terminal. A warning may have text of an exchange. */
const CONTROLS = /[\p{C}\u2028\u2029]+/gu;

/** Shows each warning of a source at most once a minute, with the number of repetitions since then. */
export class WarningLog {
  readonly #show: (text: string) => void;
  readonly #nowMs: () => number;
  readonly #warnings = new Map<string, { atMs: number; repeats: number }>();
  /** The start of the period in which {@link #shown} counts. */
  #periodMs = Number.NEGATIVE_INFINITY;
  #shown = 0;

  constructor(show: (text: string) => void, nowMs: () => number) {
    this.#show = show;
    this.#nowMs = nowMs;
  }

  add(warning: string): void {
    const text = warning.slice(0, CHARACTERS_MAX).replaceAll(CONTROLS, ' ');
    const nowMs = this.#nowMs();
    const before = this.#warnings.get(text);
    if (before !== undefined && nowMs - before.atMs < QUIET_MS) {
      before.repeats++;
      return;
    }
    this.#warnings.delete(text);
    this.#warnings.set(text, { atMs: nowMs, repeats: 0 });
    if (this.#warnings.size > WARNINGS_MAX) this.#warnings.delete(this.#warnings.keys().next().value!);
    this.#showSome(
      before?.repeats ? `${text} (${before.repeats} more times since it was last shown)` : text,
      nowMs,
    );
  }

  /** Shows a warning, unless too many others were shown in the same period. */
  #showSome(text: string, nowMs: number): void {
    if (nowMs - this.#periodMs >= QUIET_MS) {
      if (this.#shown > SHOWN_MAX) this.#show(`${this.#shown - SHOWN_MAX} other warnings were not shown`);
      this.#periodMs = nowMs;
      this.#shown = 0;
    }
    this.#shown++;
    if (this.#shown <= SHOWN_MAX) this.#show(text);
  }
}
