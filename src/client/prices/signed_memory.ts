import { decodePayload, type Payload } from '../verify/decode_payload.js';
import { type Evidence, formatEvidence } from '../verify/evidence_file.js';
import type { AggregatePrice } from './market_data.js';
import type { ReportedPayload } from './source_events.js';

/** Two prices that one key has signed for the same asset and time. */
export interface TwoValues {
  readonly signer: string;
  readonly timestampNs: bigint;
  /** The streaming ID of the asset, for payloads. */
  readonly id?: number;
  /** The text of an evidence file. */
  readonly evidence: string;
}

/** A verified text. */
interface SignedText {
  readonly signer: string;
  readonly text: string;
  /** The price, for aggregates. */
  readonly price?: bigint;
}

/** The number of characters that the memory holds. The texts of the oldest place are forgotten first. */
const CHARS_MAX = 2_000_000;

/**
 * Memory of the newest signed payloads and aggregates that a client has verified. A service signs each time only once, so two different
 * prices of one key for one asset and time are a proof against the service, or against a thief of its key. A payload and an aggregate
 * are two statements, whose times may be equal by chance, so the memory does not compare these.
 */
export class SignedMemory {
  readonly #texts = new Map<string, readonly SignedText[]>();
  #chars = 0;

  /** Returns whether an unverified payload has another price than a verified payload of the same time. */
  differs(payload: Payload): boolean {
    return this.#at(payload).some(({ text }) => differentId(text, payload) !== undefined);
  }

  /** Remembers a verified payload. @returns the proof that its signer signed another price for the same time */
  addPayload({ report: { payload, signer }, hex }: ReportedPayload): TwoValues | undefined {
    const known = this.#at(payload).filter((one) => one.signer === signer);
    this.#add(placeOf(payload), { signer, text: hex });
    for (const { text } of known) {
      const id = differentId(text, payload);
      if (id !== undefined)
        return twoValues({ signer, timestampNs: payload.timestampNs, id }, 'two payloads', [text, hex]);
    }
    return undefined;
  }

  /** Remembers a verified aggregate. @returns the proof that its signer signed another price for the same time */
  addAggregate({ symbol, price, timestampNs, signer, text }: AggregatePrice): TwoValues | undefined {
    const place = `${symbol} ${timestampNs}`;
    const other = this.#texts.get(place)?.find((one) => one.signer === signer && one.price !== price);
    this.#add(place, { signer, text, price });
    return other && twoValues({ signer, timestampNs }, 'two values', [other.text, text]);
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

function twoValues(
  fields: Omit<TwoValues, 'evidence'>,
  kind: 'two payloads' | 'two values',
  texts: readonly [string, string],
): TwoValues {
  const evidence: Evidence = kind === 'two values' ? { kind, prices: texts } : { kind, payloads: texts };
  return { ...fields, evidence: formatEvidence(evidence) };
}
