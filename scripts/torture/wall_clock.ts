import { renameSync, writeFileSync } from 'node:fs';

/** The wall clock of services that start with {@link nodeOptions}. A check can step the clock while the services run. */
export class WallClock {
  readonly #file: string;
  #aheadMs = 0;

  /** @param file the file that all these services read */
  constructor(file: string) {
    this.#file = file;
    this.#write();
  }

  /** The distance by which the clock is ahead of the real clock. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  get nodeOptions(): string {
    const url = new URL('./stepped_clock.js', import.meta.url);
    url.searchParams.set('file', this.#file);
    return `--import ${url.href}`;
  }

  step(ms: number): void {
    this.#aheadMs += ms;
    this.#write();
  }

  nowNs(): bigint {
    return BigInt(Date.now() + this.#aheadMs) * 1_000_000n;
  }

  /** Writes the number. A reader sees either the old number or the new number. */
  #write(): void {
    writeFileSync(`${this.#file}.new`, String(this.#aheadMs));
    renameSync(`${this.#file}.new`, this.#file);
  }
}
