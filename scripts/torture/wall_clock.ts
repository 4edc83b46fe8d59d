import { renameSync, writeFileSync } from 'node:fs';

/** The wall clock of services that are started with {@link nodeOptions}; it can be stepped while they run. */
export class WallClock {
  readonly #file: string;
  #aheadMs = 0;

  /** @param file is written and read by all of them */
  constructor(file: string) {
    this.#file = file;
    this.#write();
  }

  /** How far it is ahead of the real one. */
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

  /** A reader sees the old number or the new one. */
  #write(): void {
    writeFileSync(`${this.#file}.new`, String(this.#aheadMs));
    renameSync(`${this.#file}.new`, this.#file);
  }
}
