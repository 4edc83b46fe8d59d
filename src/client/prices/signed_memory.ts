import { EquivocationError } from '../connect/errors.js';
import { decodePayload, type Payload } from '../verify/decode_payload.js';
import { type Evidence, formatEvidence } from '../verify/evidence_file.js';
import type { AggregatePrice } from './market_data.js';
import type { ReportedPayload } from './source_events.js';
import type { SymbolTable } from './symbol_table.js';

/** A verified text. */
interface SignedText {
  readonly signer: string;
  readonly text: string;
  /** The price, for aggregates. */
  readonly price?: bigint;
}

/** The asset and time of a price, and the service that sent it. */
type SignedPlace = Pick<AggregatePrice, 'url' | 'symbol' | 'timestampNs'>;

/** The number of keys that are accused. With unchecked signers, anybody can make keys. */
const ACCUSED_MAX = 64;
/** The number of characters that the memory holds. The texts of the oldest place are forgotten first. */
const CHARS_MAX = 2_000_000;

/**
 * Memory of the newest signed payloads and aggregates that a client has verified. A service signs each time only once, so two different
 * prices of one key for one asset and time are a proof against the service, or against a thief of its key. A payload and an aggregate
 * are two statements, whose times may be equal by chance, so the memory does not compare these.
 */
export class SignedMemory {
  readonly #onTwoValues: (error: EquivocationError) => void;
  readonly #texts = new Map<string, readonly SignedText[]>();
  readonly #accused = new Set<string>();
  #chars = 0;

  /** @param onTwoValues called once for each key that has signed two values */
  constructor(onTwoValues: (error: EquivocationError) => void) {
    this.#onTwoValues = onTwoValues;
  }

  /** Returns whether an unverified payload has another price than a verified payload of the same time. */
  differs(payload: Payload): boolean {
    return this.#at(payload).some(({ text }) => differentId(text, payload) !== undefined);
  }

  /** Remembers a verified payload, and compares it with the payloads of the same time. @param url the service that sent it */
  addPayload(
    url: string,
    { report: { payload, signer }, hex }: ReportedPayload,
    symbols: Pick<SymbolTable, 'symbolOf'>,
  ): void {
    const known = this.#at(payload).filter((one) => one.signer === signer);
    this.#add(placeOf(payload), { signer, text: hex });
    for (const { text } of known) {
      const id = differentId(text, payload);
      if (id === undefined) continue;
      const place = { url, symbol: symbols.symbolOf(id) ?? `asset ${id}`, timestampNs: payload.timestampNs };
      this.#accuse(signer, place, { kind: 'two payloads', payloads: [text, hex] });
    }
  }

  /** Remembers a verified aggregate, and compares it with the aggregates of the same time. */
  addAggregate({ url, symbol, price, timestampNs, signer, text }: AggregatePrice): void {
    const place = `${symbol} ${timestampNs}`;
    const other = this.#texts.get(place)?.find((one) => one.signer === signer && one.price !== price);
    this.#add(place, { signer, text, price });
    if (other !== undefined)
      this.#accuse(signer, { url, symbol, timestampNs }, { kind: 'two values', prices: [other.text, text] });
  }

  #accuse(signer: string, { url, symbol, timestampNs }: SignedPlace, evidence: Evidence): void {
    if (this.#accused.has(signer) || this.#accused.size >= ACCUSED_MAX) return;
    this.#accused.add(signer);
    const statement = `${signer} signed two values of ${symbol} for ${timestampNs} ns`;
    this.#onTwoValues(new EquivocationError(url, symbol, statement, formatEvidence(evidence)));
  }

  #at(payload: Payload): readonly SignedText[] {
    return this.#texts.get(placeOf(payload)) ?? [];
  }

  #add(place: string, added: SignedText): void {
    const known = this.#texts.get(place) ?? [];
    if (known.some(({ signer, text }) => signer === added.signer && text === added.text)) return;
    this.#texts.set(place, [...known, added]);
    this.#chars += added.text.length;
    for (const [oldest, texts] of this.#texts) {
      if (this.#chars <= CHARS_MAX) return;
      this.#texts.delete(oldest);
      for (const { text } of texts) this.#chars -= text.length;
    }
  }
}

function placeOf({ taxonomyId, timestampNs }: Payload): string {
  return `${taxonomyId} ${timestampNs}`;
}

/** Returns the ID of an asset that has two prices in the two payloads. @param hex a payload with a readable form */
function differentId(hex: string, { assets }: Payload): number | undefined {
  const other = new Map((decodePayload(hex) as Payload).assets.map(({ id, value }) => [id, value]));
  return assets.find(({ id, value }) => (other.get(id) ?? value) !== value)?.id;
}
