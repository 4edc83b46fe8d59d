import { z } from 'zod';
import type { Asset } from '../../model/asset.js';
import type { Calendar } from '../../model/calendar/status.js';
import { type Clock, secondOf, type TimeNs } from '../../model/time.js';
import { MARKET_STATUS_SUFFIXES } from '../../wire/market_status_codes.js';
import { REST_PATHS } from '../../wire/paths.js';
import { signedPriceField } from '../../wire/service_name.js';
import { type FindAsset, findAsset } from '../rest/asked_assets.js';
import { assetParameter, signatureTypeParameter } from '../rest/parameters.js';
import { type Route, tokenRoute } from '../rest/route.js';
import { assetId, marketStatusValue } from '../schemas/value_schemas.js';

export interface MarketStatusRouteOptions {
  readonly clock: Clock;
  readonly findAsset: FindAsset;
  /** Returns the calendar; `undefined` for an asset that trades around the clock. */
  readonly calendarOf: (asset: Asset) => Calendar | undefined;
  /** The configuration's `service.name`. */
  readonly serviceName: string;
  readonly encodedAssetId: (symbol: string) => string;
}

export function marketStatusRoutes(options: MarketStatusRouteOptions): [string, Route][] {
  const { clock, calendarOf, serviceName, encodedAssetId } = options;
  const signedPrice = signedPriceField(serviceName);

  /** Writes a value in the shape of an aggregate, without its signatures and keys. */
  function valueJson({ signatureType }: Asset, syntheticId: string, value: number, nowNs: TimeNs): string {
    const id = JSON.stringify(syntheticId);
    return (
      `${id}:{"timestamp":${nowNs},"asset_id":${id},"signature_type":"${signatureType}","trigger":"clock",` +
      `"price":"${value}","${signedPrice}":{` +
      `"encoded_asset_id":${JSON.stringify(encodedAssetId(syntheticId))},"price":"${value}",` +
      `"timestamped_signature":{"timestamp":${nowNs}}},"signed_prices":[]}`
    );
  }

  return [
    [
      REST_PATHS.marketStatus,
      tokenRoute({
        summary: 'The current status of an asset’s market, its next one, and when it changes',
        parameters: { asset_id: assetParameter, signature_type: signatureTypeParameter },
        response: z.record(assetId, marketStatusValue(serviceName)),
        errors: [400, 403, 500],
        handle({ asset_id: symbol, signature_type: signatureType }, token) {
          const wanted = { parameter: 'asset_id', symbol, signatureType };
          const asset = findAsset(wanted, token, options.findAsset);
          if ('error' in asset) return asset;
          const calendar = calendarOf(asset);
          if (calendar === undefined)
            return { status: 400, error: `asset_id names an asset that trades around the clock: ${symbol}` };
          const nowNs = clock.nowNs();
          const { status, nextStatus, changeAtS } = calendar.stateAt(Number(secondOf(nowNs)));
          const values = [
            valueJson(asset, symbol + MARKET_STATUS_SUFFIXES.current, status, nowNs),
            valueJson(asset, symbol + MARKET_STATUS_SUFFIXES.next, nextStatus, nowNs),
            valueJson(asset, symbol + MARKET_STATUS_SUFFIXES.change, changeAtS, nowNs),
          ];
          return { data: `{${values.join()}}` };
        },
      }),
    ],
  ];
}
