import type { SignedAggregate } from '../../model/signed_price.js';
import { parseTimeNs, type TimeNs } from '../../model/time.js';
import type { CandleValues } from './candle.js';
import { readSignedLine } from './signed_line.js';

/**
 * The state of an asset since `timeNs`. `priced`: the asset has an aggregate. `ended`: it has no price. `gap`: the store dropped the record
 * while the disk failed, so the aggregate is unknown.
 */
export type Holding = PricedHolding | UnpricedHolding;

export interface PricedHolding extends AnyHolding {
  readonly state: 'priced';
  /** The text of the aggregate, made when the aggregate was signed. REST, streams, logs and other nodes receive exactly this text. */
  readonly line: string;
  /** The aggregate, read from the line at its first use. */
  readonly aggregate: SignedAggregate;
}

export interface UnpricedHolding extends AnyHolding {
  readonly state: 'ended' | 'gap';
  readonly line?: undefined;
  readonly aggregate?: undefined;
}

interface AnyHolding {
  readonly timeNs: TimeNs;
  /** The asset's running minute candle. It is in the same record as the aggregate, so that both agree after a restart. */
  readonly minute: MinuteCandle | undefined;
}

export interface MinuteCandle extends CandleValues {
  /** The number of the minute since 1970; above 0. */
  readonly minute: number;
}

/** Makes the holding of an aggregate. @param aggregate the aggregate of the line, if the caller has it */
export function pricedHolding(
  line: string,
  timeNs: TimeNs,
  minute: MinuteCandle | undefined,
  aggregate?: SignedAggregate,
): PricedHolding {
  return new LineHolding(line, timeNs, minute, aggregate);
}

/** A holding whose aggregate is read at its first use. V8 would define a getter of an object literal again for each holding. */
class LineHolding implements PricedHolding {
  readonly state = 'priced';
  #aggregate: SignedAggregate | undefined;

  constructor(
    readonly line: string,
    readonly timeNs: TimeNs,
    readonly minute: MinuteCandle | undefined,
    aggregate: SignedAggregate | undefined,
  ) {
    this.#aggregate = aggregate;
  }

  get aggregate(): SignedAggregate {
    this.#aggregate ??= readSignedLine(this.line);
    return this.#aggregate;
  }
}

/**
 * Encodes a holding as one line of JSON in UTF-8:
 *
 * {"at":"1772460000123456789","minute":[29541000,1.5,2.5,0.5,2],"aggregate":{…}}
 * {"at":"1772460000123456789","state":"ended"}
 *
 * `at` is the time of the holding, and `minute` the running candle: its minute, open, high, low and close.
 */
export function encodeHolding(holding: Holding): Buffer {
  return Buffer.from(holdingText(holding));
}

/** Returns the text of {@link encodeHolding}. */
export function holdingText({ state, timeNs, minute, line }: Holding): string {
  const candle = minute === undefined ? '' : `,"minute":${candleText(minute)}`;
  const rest = line === undefined ? `"state":"${state}"` : `"aggregate":${line}`;
  return `{"at":"${timeNs}"${candle},${rest}}`;
}

/** Returns a running candle as JSON. */
export function candleText({ minute, open, high, low, close }: MinuteCandle): string {
  return `[${minute},${open},${high},${low},${close}]`;
}

/** The pattern of a record before its aggregate, or up to its end. */
const RECORD_HEAD =
  /^\{"at":"([0-9]{1,19})"(?:,"minute":(\[[0-9eE,.+-]+\]))?,"(?:(aggregate)":(?=\{)|state":"(ended|gap)"\}$)/;

/**
 * Reads a record of {@link encodeHolding}. The line of the aggregate is read at its first use, because most callers never need its fields.
 * @throws RangeError when the bytes are not such a record
 */
export function decodeHolding(bytes: Uint8Array): Holding {
  return readHolding(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
}

/** Reads the text of {@link holdingText}. @throws RangeError for another text */
export function readHolding(text: string): Holding {
  const found = RECORD_HEAD.exec(text);
  const timeNs = found?.[1] === undefined ? undefined : parseTimeNs(found[1]);
  if (found === null || timeNs === undefined || !text.endsWith('}'))
    throw new RangeError('the record of an asset cannot be read');
  const minute = found[2] === undefined ? undefined : candleOf(JSON.parse(found[2]));
  if (found[3] === undefined) return { state: found[4] as 'ended' | 'gap', timeNs, minute };
  return pricedHolding(text.slice(found[0].length, -1), timeNs, minute);
}

/** Reads the JSON of {@link candleText}. */
export function candleOf([minute, open, high, low, close]: CandleNumbers): MinuteCandle {
  return { minute, open, high, low, close };
}

/** The minute, open, high, low and close. */
export type CandleNumbers = [number, number, number, number, number];
