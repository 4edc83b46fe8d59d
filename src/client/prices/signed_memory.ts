import { EquivocationError, ProtocolError, type TicksealError } from '../connect/errors.js';
import type { Platform } from '../connect/platform.js';
import { decodePayload, type Payload } from '../verify/decode_payload.js';
import { type Evidence, formatEvidence } from '../verify/evidence_file.js';
import type { PayloadReport } from '../verify/verify_payload.js';
import type { WaitingPayload } from './frame_queue.js';
import type { AggregatePrice } from './market_data.js';
import { PassedOver } from './passed_over.js';
import type { PayloadVerifier } from './payload_verifier.js';
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

/** The service that sent a payload, and its symbols. */
export interface PayloadSource {
  readonly url: string;
  readonly symbols: Pick<SymbolTable, 'symbolOf'>;
  /** Called when a payload that was passed over contradicts another payload, and fails its checks. */
  readonly onFailed: (report: PayloadReport, hex: string) => void;
}

/** The parts of a client that its memory uses. */
export interface SignedMemoryOptions {
  readonly verifier: Pick<PayloadVerifier, 'verify'>;
  readonly steadyMs: Platform['steadyMs'];
  /** Called with an {@link EquivocationError} once for each key that has signed two values, and once when payloads stay unverified. */
  readonly onError: (error: TicksealError) => void;
}

/**
 * The number of contradicting payloads that are verified in a second. Anybody between the service and the client can make payloads that
 * contradict each other and that no key has signed.
 */
const VERIFIED_PER_SECOND_MAX = 100;
/** The number of keys that are accused. With unchecked signers, anybody can make keys. */
const ACCUSED_MAX = 64;
/** The number of characters that the memory holds. The texts of the oldest place are forgotten first. */
const CHARS_MAX = 2_000_000;

/**
 * Memory of the newest signed payloads and aggregates that a client has verified. A service signs each time only once, so two different
 * prices of one key for one asset and time are a proof against the service, or against a thief of its key. A payload and an aggregate
 * are two statements, whose times may be equal by chance, so the memory does not compare these.
 *
 * A client does not verify a payload when it has newer prices. The memory compares such a payload too, and verifies it if it contradicts
 * another payload of its time.
 */
export class SignedMemory {
  readonly #options: SignedMemoryOptions;
  readonly #texts = new Map<string, readonly SignedText[]>();
  readonly #passedOver = new PassedOver();
  readonly #accused = new Set<string>();
  #chars = 0;
  #second = 0;
  /** The number of contradicting payloads that were verified in this second. */
  #inSecond = 0;
  #isOverflowTold = false;

  constructor(options: SignedMemoryOptions) {
    this.#options = options;
  }

  /** Compares a payload that the client does not verify with the payloads of the same time. */
  passOver({ hex, payload }: WaitingPayload, source: PayloadSource): void {
    const place = placeOf(payload);
    const texts = [...this.#at(place).map(({ text }) => text), ...this.#passedOver.at(place)];
    if (texts.includes(hex)) return;
    this.#passedOver.add(place, hex);
    if (texts.some((text) => differentId(text, payload) !== undefined)) this.#verify(place, hex, source);
  }

  /** Remembers a verified payload, and compares it with the payloads of the same time. */
  addPayload(reported: ReportedPayload, source: PayloadSource): void {
    const { hex, report } = reported;
    const { payload, signer } = report;
    const place = placeOf(payload);
    const known = this.#at(place).filter((one) => one.signer === signer);
    this.#passedOver.delete(place, hex);
    this.#add(place, { signer, text: hex });
    for (const { text } of known) {
      const id = differentId(text, payload);
      if (id === undefined) continue;
      const { url, symbols } = source;
      const { taxonomyId, timestampNs } = payload;
      const signed = { url, symbol: symbols.symbolOf(id, taxonomyId) ?? `asset ${id}`, timestampNs };
      this.#reportContradiction(signer, signed, { kind: 'two payloads', payloads: [text, hex] });
    }
    for (const text of this.#passedOver.at(place))
      if (differentId(text, payload) !== undefined) this.#verify(place, text, source);
  }

  /** Remembers a verified aggregate, and compares it with the aggregates of the same time. */
  addAggregate({ url, symbol, price, timestampNs, signer, text }: AggregatePrice): void {
    const place = `${symbol} ${timestampNs}`;
    const other = this.#at(place).find((one) => one.signer === signer && one.price !== price);
    this.#add(place, { signer, text, price });
    if (other !== undefined)
      this.#reportContradiction(
        signer,
        { url, symbol, timestampNs },
        { kind: 'two values', prices: [other.text, text] },
      );
  }

  #reportContradiction(signer: string, { url, symbol, timestampNs }: SignedPlace, evidence: Evidence): void {
    if (this.#accused.has(signer) || this.#accused.size >= ACCUSED_MAX) return;
    this.#accused.add(signer);
    const statement = `${signer} signed two values of ${symbol} for ${timestampNs} ns`;
    this.#options.onError(new EquivocationError(url, symbol, statement, formatEvidence(evidence)));
  }

  /** Verifies a payload that contradicts another payload. */
  #verify(place: string, hex: string, source: PayloadSource): void {
    const { verifier, steadyMs, onError } = this.#options;
    const second = Math.floor(steadyMs() / 1_000);
    if (second !== this.#second) this.#inSecond = 0;
    this.#second = second;
    if (this.#inSecond >= VERIFIED_PER_SECOND_MAX) {
      if (this.#isOverflowTold) return;
      this.#isOverflowTold = true;
      const reason = `more than ${VERIFIED_PER_SECOND_MAX} payloads in a second contradict others of their times; the rest stays unverified`;
      onError(new ProtocolError(source.url, reason));
      return;
    }
    this.#inSecond += 1;
    this.#passedOver.delete(place, hex);
    verifier.verify(hex, (report) => {
      if (report.verdict === 'failed') source.onFailed(report, hex);
      else this.addPayload({ report, hex }, source);
    });
  }

  #at(place: string): readonly SignedText[] {
    return this.#texts.get(place) ?? [];
  }

  #add(place: string, added: SignedText): void {
    const known = this.#at(place);
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
