/** The number of characters of the payloads. The payloads of the oldest place are forgotten first. */
const CHARS_MAX = 500_000;
/** The number of payloads of one place. The oldest payload of the place is forgotten first. */
const PAYLOADS_MAX = 16;

/**
 * The payloads that a client has received but not verified, because newer prices were there, by place. A later payload of the same place
 * may contradict them.
 */
export class PassedOver {
  readonly #places = new Map<string, Set<string>>();
  #chars = 0;

  /** Returns the payloads of a place, in hex. */
  at(place: string): readonly string[] {
    return [...(this.#places.get(place) ?? [])];
  }

  add(place: string, hex: string): void {
    const known = this.#places.get(place) ?? new Set();
    if (known.has(hex)) return;
    this.#places.set(place, known.add(hex));
    this.#chars += hex.length;
    if (known.size > PAYLOADS_MAX) this.delete(place, known.values().next().value!);
    for (const [oldest, payloads] of this.#places) {
      if (this.#chars <= CHARS_MAX) return;
      for (const one of payloads) this.delete(oldest, one);
    }
  }

  delete(place: string, hex: string): void {
    const known = this.#places.get(place);
    if (known?.delete(hex) !== true) return;
    this.#chars -= hex.length;
    if (known.size === 0) this.#places.delete(place);
  }
}
