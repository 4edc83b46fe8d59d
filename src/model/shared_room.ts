/**
 * Memory that callers share. Each caller may use half of the free memory, so there is always free memory for a caller that uses little. A
 * caller that uses nothing may always add something.
 */
export class SharedRoom {
  readonly #bytesMax: number;
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The number of bytes that all callers use. */
  get bytes(): number {
    return this.#bytes;
  }

  hasRoom(caller: string, bytes: number): boolean {
    const held = this.#bytesOf.get(caller);
    return held === undefined || bytes <= (this.#bytesMax - this.#bytes - held) / 2;
  }

  /** @param bytes below 0 when the caller gives memory back */
  add(caller: string, bytes: number): void {
    const held = (this.#bytesOf.get(caller) ?? 0) + bytes;
    if (held === 0) this.#bytesOf.delete(caller);
    else this.#bytesOf.set(caller, held);
    this.#bytes += bytes;
  }
}
