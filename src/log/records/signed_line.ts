import { parseHexInto, toHex } from '../../model/hex.js';
import { type Price, parsePrice } from '../../model/price.js';
import type { PublisherPrice, SignedAggregate, Trigger } from '../../model/signed_price.js';
import { parseTimeNs, type TimeNs } from '../../model/time.js';
import {
  type AggregateLine,
  inputTexts,
  readAggregateLine,
  readInputLine,
  writeInput,
  writeLine,
} from '../../wire/aggregate_line.js';
import { signedPriceField } from '../../wire/service_name.js';
import { type SignatureType, TRIGGERS, WORD_BYTES } from '../../wire/signatures.js';

/** The facts that an aggregate shows and that depend on the configuration and the version of the service. */
export interface ShownFacts {
  /** The configuration's `service.name`. */
  readonly serviceName: string;
  readonly encodedAssetId: string;
  /** `calculation_alg.version` and `calculation_alg.checksum`. */
  readonly version: string;
  readonly checksum: string;
}

/**
 * Writes an aggregate as the line that REST shows. The service's own hex keeps leading zeros, because some clients reject an odd number of
 * digits.
 * @param hasInputs false when the service no longer keeps the inputs; the line then has no `signed_prices`
 */
export function writeAggregateLine(aggregate: SignedAggregate, shown: ShownFacts, hasInputs = true): string {
  return writeLine({
    timestamp: String(aggregate.timestampNs),
    symbol: aggregate.symbol,
    signatureType: aggregate.signatureType,
    trigger: aggregate.trigger,
    price: String(aggregate.price),
    field: signedPriceField(shown.serviceName),
    publicKey: aggregate.publicKey,
    encodedAssetId: shown.encodedAssetId,
    r: toHex(aggregate.r),
    s: toHex(aggregate.s),
    v: aggregate.v === undefined ? undefined : `0x${aggregate.v.toString(16)}`,
    signedAt: String(aggregate.signedAtNs),
    msgHash: toHex(aggregate.msgHash),
    merkleRoot: toHex(aggregate.merkleRoot),
    algorithm: aggregate.algorithm,
    version: shown.version,
    checksum: shown.checksum,
    inputs: hasInputs ? writeInputs(aggregate) : undefined,
  });
}

/** Writes the inputs of an aggregate as the JSON array `signed_prices`. */
export function writeInputs({ inputs, signatureType }: SignedAggregate): string {
  return `[${inputs.map((input) => inputText(input, signatureType)).join()}]`;
}

/** Returns an input as an object of `signed_prices`. */
export function inputText({ wire, timestampNs }: PublisherPrice, signatureType: SignatureType): string {
  return writeInput(wire, signatureType, String(timestampNs));
}

/**
 * Reads the aggregate of a line. Reads the inputs at their first use, because some callers never use them; without `signed_prices` there
 * are none.
 * @throws RangeError when the text is not such a line
 */
export function readSignedLine(line: string): SignedAggregate {
  return aggregateOf(requireRead(readAggregateLine(line)));
}

function shownBy({ field, encodedAssetId, version, checksum }: AggregateLine): ShownFacts {
  return { serviceName: field.slice(0, -signedPriceField('').length), encodedAssetId, version, checksum };
}

/** An aggregate with everything that its line says. */
export interface ShownAggregate {
  readonly aggregate: SignedAggregate;
  readonly hasInputs: boolean;
  readonly shown: ShownFacts;
}

/**
 * Reads lines that share facts and inputs. An input that several lines have is one object, and lines in a row with the same inputs or the
 * same facts share the array of inputs or the facts.
 */
export class LineReader {
  readonly #inputs = new Map<string, PublisherPrice>();
  #list: { readonly text: string; readonly inputs: readonly PublisherPrice[] } | undefined;
  #shown: ShownFacts | undefined;

  /** @throws RangeError when the text is not the line of an aggregate */
  read(line: string): ShownAggregate {
    const of = requireRead(readAggregateLine(line));
    const { inputs: text } = of;
    const shown = shownBy(of);
    if (!isSame(this.#shown, shown)) this.#shown = shown;
    const aggregate = { ...aggregateOf({ ...of, inputs: undefined }), inputs: this.#listOf(text ?? '[]') };
    return { aggregate, hasInputs: text !== undefined, shown: this.#shown! };
  }

  #listOf(text: string): readonly PublisherPrice[] {
    if (this.#list?.text !== text)
      this.#list = { text, inputs: requireRead(inputTexts(text)).map((one) => this.#inputOf(one)) };
    return this.#list.inputs;
  }

  #inputOf(text: string): PublisherPrice {
    const input = this.#inputs.get(text) ?? readInputText(text);
    this.#inputs.set(text, input);
    return input;
  }
}

function isSame(one: ShownFacts | undefined, other: ShownFacts): boolean {
  return (
    one?.serviceName === other.serviceName &&
    one.encodedAssetId === other.encodedAssetId &&
    one.version === other.version &&
    one.checksum === other.checksum
  );
}

/** Reads an object of `signed_prices`. @throws RangeError when the text is not such an object */
export function readInputText(text: string): PublisherPrice {
  const { timestamp, texts: wire } = requireRead(readInputLine(text));
  return { price: priceOf(wire.price), timestampNs: timeOf(timestamp), wire };
}

function aggregateOf(of: AggregateLine): SignedAggregate {
  let inputs: readonly PublisherPrice[] | undefined;
  return {
    symbol: of.symbol,
    trigger: requireRead(TRIGGERS.find((one) => one === of.trigger)) as Trigger,
    price: priceOf(of.price),
    timestampNs: timeOf(of.timestamp),
    signedAtNs: timeOf(of.signedAt),
    signatureType: of.signatureType,
    publicKey: of.publicKey,
    msgHash: wordOf(of.msgHash),
    r: wordOf(of.r),
    s: wordOf(of.s),
    v: of.v === undefined ? undefined : Number(of.v),
    merkleRoot: wordOf(of.merkleRoot),
    algorithm: of.algorithm,
    get inputs() {
      inputs ??= of.inputs === undefined ? [] : requireRead(inputTexts(of.inputs)).map(readInputText);
      return inputs;
    },
  };
}

function priceOf(text: string): Price {
  return requireRead(parsePrice(text));
}

function timeOf(text: string): TimeNs {
  return requireRead(parseTimeNs(text));
}

function wordOf(text: string): Uint8Array {
  const bytes = new Uint8Array(WORD_BYTES);
  return requireRead(parseHexInto(text, bytes, 0, WORD_BYTES) ? bytes : undefined);
}

function requireRead<T>(read: T | undefined): T {
  if (read === undefined) throw new RangeError('a text is not the line of an aggregate');
  return read;
}
