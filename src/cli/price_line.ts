import type { PriceToSign } from '../client/sign/sign_price.js';
import { parseDecimalPrice } from '../client/verify/decimal_price.js';
import { parseExactJson, writeExactJson } from '../client/verify/exact_json.js';
import { parseStarkAssetId } from '../client/verify/stark_messages.js';
import { shownText } from '../config/shown_text.js';
import type { SignatureType } from '../model/asset.js';
import { parsePrice } from '../model/price.js';
import { type Clock, parseTimeNs } from '../model/time.js';
import { SIGNED_PRICES_TYPE } from '../wire/publish_message.js';

/** The meaning of one line of input. */
export type PriceLine =
  /** A price to sign. */
  | { readonly kind: 'sign'; readonly price: PriceToSign }
  /** Whole messages that are already signed. The command sends them unchanged. */
  | { readonly kind: 'forward'; readonly messages: readonly SignedMessage[] }
  | { readonly kind: 'bad'; readonly reason: string };

export interface SignedMessage {
  readonly traceId: string;
  readonly text: string;
}

export interface PriceLineOptions {
  /** True when prices are integers times 10^18, false when prices are decimal numbers. */
  readonly scaled: boolean;
  /** The oracle ID of a signed price that has none of its own. */
  readonly oracleId: string;
  readonly clock: Clock;
}

type LineFields = Readonly<Record<string, unknown>>;

/**
 * Reads a JSON line. The command signs a line `{"asset":…,"price":…}`. It forwards a `signed_prices` message, an
 * `AggregatedSignedPrice` and a publisher's `signed_price`.
 * @param lineNumber used in the trace IDs of messages made from a recorded price
 */
export function parsePriceLine(line: string, lineNumber: number, options: PriceLineOptions): PriceLine {
  const value = parseExactJson(line);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return badLine('it is not a JSON object such as {"asset":"BTCUSD","price":"95000.5"}');
  const fields = value as LineFields;
  if (fields['type'] === SIGNED_PRICES_TYPE) {
    const traceId = fields['trace_id'];
    if (typeof traceId !== 'string') return badLine('trace_id is not a string');
    return { kind: 'forward', messages: [{ traceId, text: line }] };
  }
  if (Array.isArray(fields['signed_prices']))
    return recordedPrices(fields['signed_prices'], lineNumber, options);
  if ('timestamped_signature' in fields) return recordedPrices([fields], lineNumber, options);
  return priceToSign(fields, options);
}

/** Reads an argument such as `BTCUSD=65000.5`. */
export function parsePriceArgument(text: string, options: PriceLineOptions): PriceLine {
  const [, asset, price] = /^(.+)=([^=]+)$/.exec(text) ?? [];
  return asset === undefined
    ? badLine(`"${shownText(text)}" is not SYMBOL=PRICE, such as BTCUSD=95000.5`)
    : priceToSign({ asset, price }, options);
}

function priceToSign(fields: LineFields, { scaled, clock }: PriceLineOptions): PriceLine {
  const { asset, price: priceField, timestamp, trigger, metadata } = fields;
  if (typeof asset !== 'string' || asset === '') return badLine('asset is not a symbol');
  // The JSON parser keeps the exact text of a number, so this text has all digits of the price.
  const priceText = String(priceField);
  const price = scaled ? parsePrice(priceText) : parseDecimalPrice(priceText);
  if (price === undefined) {
    if (/^-0(?:\.0+)?$/.test(priceText)) return badLine(`price "${priceText}" is zero with a sign`);
    return badLine(
      `price "${priceText}" is not ${scaled ? 'an integer times 10^18 in range' : 'a decimal number in range, such as 95000.5'}`,
    );
  }
  const timestampNs = timestamp === undefined ? clock.nowNs() : parseTimeNs(String(timestamp));
  if (timestampNs === undefined) return badLine('timestamp is not in nanoseconds');
  if (trigger !== undefined && typeof trigger !== 'string') return badLine('trigger is not a string');
  if (metadata !== undefined && (typeof metadata !== 'object' || metadata === null)) {
    return badLine('metadata is not an object');
  }
  return { kind: 'sign', price: { symbol: asset, price, timestampNs, trigger, metadata } };
}

/** Makes a separate message for each publisher's price, because a message holds only one price of an asset. */
function recordedPrices(
  values: readonly unknown[],
  lineNumber: number,
  options: PriceLineOptions,
): PriceLine {
  const messages: SignedMessage[] = [];
  for (const [i, value] of values.entries()) {
    const signedPrice = value as LineFields | null;
    const externalAssetId = signedPrice?.['external_asset_id'];
    if (typeof externalAssetId !== 'string') return badLine('external_asset_id is not a string');
    const type = signedPrice?.['signature_type'] as SignatureType;
    const stark = type === 'stark' ? parseStarkAssetId(externalAssetId) : undefined;
    const assetId = stark?.assetId ?? externalAssetId;
    const update = {
      oracle_id: stark?.oracleId ?? options.oracleId,
      asset_id: assetId,
      trigger: 'unspecified',
      signed_price: signedPrice,
    };
    const traceId = `line-${lineNumber}-${i}`;
    const message = { type: SIGNED_PRICES_TYPE, trace_id: traceId, data: { [assetId]: update } };
    messages.push({ traceId, text: writeExactJson(message) });
  }
  return { kind: 'forward', messages };
}

function badLine(reason: string): PriceLine {
  return { kind: 'bad', reason };
}
