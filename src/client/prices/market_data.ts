import { NS_PER_SECOND } from '../../model/time.js';
import {
  MARKET_STATUS_NAMES,
  MARKET_STATUS_SUFFIXES,
  type MarketStatus,
} from '../../wire/market_status_codes.js';
import { REST_PATHS } from '../../wire/paths.js';
import { type PriceQuality, qualityOf } from '../../wire/price_quality.js';
import type { Resolution } from '../../wire/rest_values.js';
import type { SignatureType } from '../../wire/signatures.js';
import { ANSWER_BYTES_MAX } from '../connect/bounded_fetch.js';
import { ProtocolError, UnverifiedError } from '../connect/errors.js';
import { type RestService, withoutQuery } from '../connect/rest_service.js';
import { readAggregate, signedTimeOf } from '../verify/aggregate_form.js';
import { type Check, type SignerSource, signersOf } from '../verify/checks.js';
import type { RecoverAddress } from '../verify/evm_signatures.js';
import { parseExactJson, writeExactJson } from '../verify/exact_json.js';
import { foreignJsonFault } from '../verify/foreign_json.js';
import { FormError } from '../verify/form_reader.js';
import { verifyAggregate } from '../verify/verify_aggregate.js';
import { bySymbol, requireSymbol, requireSymbols } from './symbol_table.js';
import { type MarketStatusName, Tick, type TickFields } from './tick.js';

/** The choice between the two assets that share a symbol. */
export interface AssetQuery {
  /** The signature type of the assets. Default: `evm` for a symbol that has both types. */
  readonly signatureType?: SignatureType | undefined;
}

/** The span and the length of the wanted candles. */
export interface CandleQuery extends AssetQuery {
  /** The length of a candle: a number of minutes, or a day (`D`), a week (`W`) or a month (`M`). */
  readonly resolution: Resolution;
  /** The first UNIX second of the span. */
  readonly from: number;
  /** The UNIX second at which the span ends. This second is not part of the span. */
  readonly to: number;
}

/** A candle of an asset. A candle is not signed, and its prices are real prices, rounded to doubles. */
export interface Candle {
  /** The UNIX second at which the candle begins. */
  readonly time: number;
  /** The first price. */
  readonly open: number;
  /** The highest price. */
  readonly high: number;
  /** The lowest price. */
  readonly low: number;
  /** The last price. */
  readonly close: number;
}

/** The current status of a market, and its next change. This status is not signed. */
export interface MarketHours {
  /** The current status. */
  readonly status: MarketStatusName;
  /** The status after the next change. */
  readonly next: MarketStatusName;
  /** The time of the next change, in UNIX seconds. */
  readonly changesAt: number;
}

/**
 * An aggregated price of an asset. The price passed all checks. The field `timestampNs` is the time at which the service signed the
 * aggregate.
 */
export class AggregatePrice extends Tick {
  /** @internal */
  constructor(
    fields: TickFields,
    nowMs: () => number,
    /** The aggregate as JSON with every digit, for `tickseal verify` and for contracts. */
    readonly text: string,
    /** The checks of the publishers' signatures, the Merkle root, the price and the service's signature. */
    readonly checks: readonly Check[],
    /** The number, age and spread of the inputs; `undefined` for an aggregate that is kept without its inputs. */
    readonly quality: PriceQuality | undefined,
  ) {
    super(fields, nowMs);
  }

  /** `absent` for an aggregate that is kept without its inputs: only what the service signed was checked. Otherwise `checked`. */
  get inputs(): 'checked' | 'absent' {
    return this.quality === undefined ? 'absent' : 'checked';
  }
}

/** The keys and options for the checks of aggregates. */
export interface AggregateTrust {
  readonly signers: SignerSource;
  readonly oracleId?: string | undefined;
  /** Recovers the signers of EVM signatures. Default: plain JavaScript. */
  readonly recover?: RecoverAddress | undefined;
}

/** The bounds of an aggregate in an answer. A hundred inputs with the largest metadata have fewer bytes and values. */
const AGGREGATE_BYTES_MAX = 2_097_152;
const AGGREGATE_VALUES_MAX = 32_768;

/** Reads the newest aggregates: see `Client.latest`. */
export function latest(
  service: RestService,
  symbols: readonly string[],
  query: AssetQuery,
  trust: AggregateTrust,
): Promise<Record<string, AggregatePrice>> {
  return readPrices(service, symbols, pathOf(REST_PATHS.latest, assetParameters(symbols, query)), trust);
}

/** Reads earlier aggregates: see `Client.recent`. */
export function recent(
  service: RestService,
  symbols: readonly string[],
  second: number,
  query: AssetQuery,
  trust: AggregateTrust,
): Promise<Record<string, AggregatePrice>> {
  requireSecond('second', second);
  const parameters = { timestamp: String(second), ...assetParameters(symbols, query) };
  const isLater = (ns: bigint) => ns / NS_PER_SECOND > second;
  return readPrices(service, symbols, pathOf(REST_PATHS.recent, parameters), trust, 'required', isLater);
}

/** @throws TypeError when a time is no bigint: a number loses the last digits of nanoseconds */
export function requireNs(name: string, value: unknown): void {
  if (typeof value !== 'bigint')
    throw new TypeError(`${name} must be a bigint of UNIX nanoseconds, not a value of type ${typeof value}`);
  if (value < 0n) throw new RangeError(`${name} lies before 1970`);
}

/**
 * @throws TypeError when a time is no number
 * @throws RangeError when a time is not in whole UNIX seconds
 */
function requireSecond(name: string, value: unknown): void {
  if (typeof value !== 'number')
    throw new TypeError(`${name} must be a number of UNIX seconds, not a value of type ${typeof value}`);
  if (!Number.isSafeInteger(value)) throw new RangeError(`${name} must be whole UNIX seconds`);
}

/** Reads aggregates of the past: see `Client.at`. */
export function at(
  service: RestService,
  symbols: readonly string[],
  timestampNs: bigint,
  query: AssetQuery,
  trust: AggregateTrust,
): Promise<Record<string, AggregatePrice>> {
  const parameters = { timestamp: String(timestampNs), ...assetParameters(symbols, query) };
  const isLater = (ns: bigint) => ns > timestampNs;
  return readPrices(service, symbols, pathOf(REST_PATHS.at, parameters), trust, 'optional', isLater);
}

/** Checks an aggregate of the past. The inputs of the aggregate may be absent. @throws UnverifiedError when a check fails */
export function keptPriceOf(
  service: RestService,
  symbol: string,
  aggregate: unknown,
  trust: AggregateTrust,
): AggregatePrice {
  return priceOf(service, symbol, aggregate, trust, 'optional');
}

/** Reads candles: see `Client.candles`. */
export async function candles(service: RestService, symbol: string, query: CandleQuery): Promise<Candle[]> {
  requireSymbol(symbol);
  const { resolution, from, to, signatureType } = query;
  requireSecond('from', from);
  requireSecond('to', to);
  const parameters = {
    symbol,
    resolution,
    from: String(from),
    to: String(to),
    signature_type: signatureType,
  };
  return service.getForm(pathOf(REST_PATHS.history, parameters), (answer) => {
    const data = answer.child('data');
    const [t, o, h, l, c] = (['t', 'o', 'h', 'l', 'c'] as const).map((name) => data.numbers(name));
    if ([o, h, l, c].some((column) => column!.length !== t!.length))
      throw new FormError('the columns of the candles differ in length');
    return t!.map((time, i) => ({ time, open: o![i]!, high: h![i]!, low: l![i]!, close: c![i]! }));
  });
}

/** Reads a market's status: see `Client.marketStatus`. */
export async function marketStatus(
  service: RestService,
  symbol: string,
  { signatureType }: AssetQuery,
): Promise<MarketHours> {
  requireSymbol(symbol);
  const path = pathOf(REST_PATHS.marketStatus, { asset_id: symbol, signature_type: signatureType });
  return service.getForm(path, (answer) => {
    const data = answer.child('data');
    const numberOf = (suffix: string) => Number(data.child(symbol + suffix).text('price'));
    const nameOf = (suffix: string) => {
      const name = MARKET_STATUS_NAMES[numberOf(suffix) as MarketStatus];
      if (name === undefined) throw new FormError(`data.${symbol}${suffix} is not a market status`);
      return name;
    };
    return {
      status: nameOf(MARKET_STATUS_SUFFIXES.current),
      next: nameOf(MARKET_STATUS_SUFFIXES.next),
      changesAt: numberOf(MARKET_STATUS_SUFFIXES.change),
    };
  });
}

/** @param isLater returns true for an aggregate that was signed after the requested time, and so was not in force then */
async function readPrices(
  service: RestService,
  symbols: readonly string[],
  path: string,
  trust: AggregateTrust,
  inputs: 'required' | 'optional' = 'required',
  isLater?: (signedAtNs: bigint) => boolean,
): Promise<Record<string, AggregatePrice>> {
  const text = await service.get(path, Math.min(ANSWER_BYTES_MAX, symbols.length * AGGREGATE_BYTES_MAX));
  const fault = foreignJsonFault(text, symbols.length * AGGREGATE_VALUES_MAX);
  if (fault !== undefined) throw new ProtocolError(service.url, `${withoutQuery(path)}: ${fault}`);
  const body = parseExactJson(text) as { readonly data?: Readonly<Record<string, object>> } | undefined;
  if (typeof body?.data !== 'object' || body.data === null)
    throw new ProtocolError(service.url, `${withoutQuery(path)}: the answer has no data`);
  const prices = Object.entries(body.data).map(([symbol, aggregate]) => {
    const price = priceOf(service, symbol, aggregate, trust, inputs);
    if (!isLater?.(price.timestampNs)) return [symbol, price] as const;
    const age: Check = { name: 'age', status: 'failed', reason: 'signed after the requested time' };
    throw new UnverifiedError(service.url, [symbol], [...price.checks, age]);
  });
  return bySymbol(prices);
}

function priceOf(
  service: RestService,
  symbol: string,
  aggregate: unknown,
  { signers, oracleId, recover }: AggregateTrust,
  inputs: 'required' | 'optional',
): AggregatePrice {
  const expected = { signers: signersOf(signers, signedTimeOf(aggregate)), oracleId, inputs, recover };
  const [report] = verifyAggregate({ data: { [symbol]: aggregate } }, expected);
  const { verdict, checks, signer = '' } = report!;
  if (verdict === 'failed') throw new UnverifiedError(service.url, [symbol], checks);
  const { price, service: signed, publishers } = readAggregate(aggregate);
  const fields = { symbol, price, timestampNs: signed.timestampNs, signer, verdict, attributes: {} };
  return new AggregatePrice(
    { ...fields, url: service.url },
    service.nowMs,
    writeExactJson(aggregate as object),
    checks,
    qualityOf(publishers ?? [], signed.timestampNs),
  );
}

function assetParameters(symbols: readonly string[], { signatureType }: AssetQuery) {
  requireSymbols(symbols);
  return { assets: symbols.join(','), signature_type: signatureType };
}

export function pathOf(path: string, parameters: Readonly<Record<string, string | undefined>>): string {
  const query = Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value!)}`);
  return `${path}?${query.join('&')}`;
}
