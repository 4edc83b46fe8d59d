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
import { ProtocolError, UnverifiedError } from '../connect/errors.js';
import type { RestService } from '../connect/rest_service.js';
import { readAggregate } from '../verify/aggregate_form.js';
import { type Check, type SignerSource, signersOf } from '../verify/checks.js';
import type { RecoverAddress } from '../verify/evm_signatures.js';
import { parseExactJson, writeExactJson } from '../verify/exact_json.js';
import { verifyAggregate } from '../verify/verify_aggregate.js';
import { bySymbol, requireSymbol, requireSymbols } from './symbol_table.js';
import { type MarketStatusName, Tick } from './tick.js';

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
    fields: Omit<Tick, 'decimal' | 'ageMs' | 'backfilled'>,
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
}

/** The keys and options for the checks of aggregates. */
export interface AggregateTrust {
  readonly signers: SignerSource;
  readonly oracleId?: string | undefined;
  /** Recovers the signers of EVM signatures. Default: plain JavaScript. */
  readonly recover?: RecoverAddress | undefined;
}

/** Reads the newest aggregates: see `Client.latest`. */
export function latest(
  service: RestService,
  symbols: readonly string[],
  query: AssetQuery,
  trust: AggregateTrust,
): Promise<Record<string, AggregatePrice>> {
  return aggregates(service, pathOf(REST_PATHS.latest, assetParameters(symbols, query)), trust);
}

/** Reads earlier aggregates: see `Client.recent`. */
export function recent(
  service: RestService,
  symbols: readonly string[],
  second: number,
  query: AssetQuery,
  trust: AggregateTrust,
): Promise<Record<string, AggregatePrice>> {
  const parameters = { timestamp: String(second), ...assetParameters(symbols, query) };
  const isLater = (ns: bigint) => ns / NS_PER_SECOND > second;
  return aggregates(service, pathOf(REST_PATHS.recent, parameters), trust, 'required', isLater);
}

/** @throws TypeError when a time is no bigint: a number loses the last digits of nanoseconds */
export function requireNs(name: string, value: unknown): void {
  if (typeof value !== 'bigint')
    throw new TypeError(`${name} must be a bigint of UNIX nanoseconds, not a value of type ${typeof value}`);
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
  return aggregates(service, pathOf(REST_PATHS.at, parameters), trust, 'optional', (ns) => ns > timestampNs);
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
  const parameters = {
    symbol,
    resolution,
    from: String(from),
    to: String(to),
    signature_type: signatureType,
  };
  const data = (await service.getData(pathOf(REST_PATHS.history, parameters))) as CandleArrays;
  return data.t.map((time, i) => ({
    time,
    open: data.o[i]!,
    high: data.h[i]!,
    low: data.l[i]!,
    close: data.c[i]!,
  }));
}

/** Reads a market's status: see `Client.marketStatus`. */
export async function marketStatus(
  service: RestService,
  symbol: string,
  { signatureType }: AssetQuery,
): Promise<MarketHours> {
  requireSymbol(symbol);
  const path = pathOf(REST_PATHS.marketStatus, { asset_id: symbol, signature_type: signatureType });
  const data = (await service.getData(path)) as Record<string, { readonly price: string } | undefined>;
  const numberOf = (suffix: string) => Number(data[symbol + suffix]?.price);
  const nameOf = (code: number) => {
    const name = MARKET_STATUS_NAMES[code as MarketStatus];
    if (name === undefined) throw new ProtocolError(service.url, `${code} is not a market status`);
    return name;
  };
  return {
    status: nameOf(numberOf(MARKET_STATUS_SUFFIXES.current)),
    next: nameOf(numberOf(MARKET_STATUS_SUFFIXES.next)),
    changesAt: numberOf(MARKET_STATUS_SUFFIXES.change),
  };
}

/** @param isLater returns true for an aggregate that was signed after the requested time, and so was not in force then */
async function aggregates(
  service: RestService,
  path: string,
  trust: AggregateTrust,
  inputs: 'required' | 'optional' = 'required',
  isLater?: (signedAtNs: bigint) => boolean,
): Promise<Record<string, AggregatePrice>> {
  const text = await service.get(path);
  const body = parseExactJson(text) as { readonly data?: Readonly<Record<string, object>> } | undefined;
  if (typeof body?.data !== 'object' || body.data === null)
    throw new ProtocolError(service.url, 'the answer has no data');
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
  const fields = { symbol, price, timestampNs: signed.timestampNs, signer, verdict, status: undefined };
  return new AggregatePrice(
    { ...fields, url: service.url },
    service.nowMs,
    writeExactJson(aggregate as object),
    checks,
    qualityOf(publishers ?? [], signed.timestampNs),
  );
}

/** Returns the signature time that an aggregate states; `undefined` for an aggregate of another form, which fails every check. */
function signedTimeOf(aggregate: unknown): bigint | undefined {
  try {
    return readAggregate(aggregate).service.timestampNs;
  } catch {
    return undefined;
  }
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

interface CandleArrays {
  readonly t: readonly number[];
  readonly o: readonly number[];
  readonly h: readonly number[];
  readonly l: readonly number[];
  readonly c: readonly number[];
}
