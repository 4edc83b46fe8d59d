/** The period in which the same warning is shown only once. */
const QUIET_MS = 60_000;
/** The largest number of different warnings in memory. The log drops the oldest warnings. */
const WARNINGS_MAX = 1_000;

/** Shows each warning at most once a minute, with the number of repetitions since then. */
export class WarningLog {
  readonly #show: (text: string) => void;
  readonly #nowMs: () => number;
  readonly #shown = new Map<string, { atMs: number; repeats: number }>();

  constructor(show: (text: string) => void, nowMs: () => number) {
    this.#show = show;
    this.#nowMs = nowMs;
  }

  add(text: string): void {
    const nowMs = this.#nowMs();
    const before = this.#shown.get(text);
    if (before !== undefined && nowMs - before.atMs < QUIET_MS) {
      before.repeats++;
      return;
    }
    this.#shown.delete(text);
    this.#shown.set(text, { atMs: nowMs, repeats: 0 });
    if (this.#shown.size > WARNINGS_MAX) this.#shown.delete(this.#shown.keys().next().value!);
    this.#show(before?.repeats ? `${text} (${before.repeats} more times since it was last shown)` : text);
  }
}
