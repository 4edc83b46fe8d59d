import { ALGORITHM_VERSION, algorithmChecksum, algorithmDefinition } from '../crypto/algorithm_definition.js';
import type { AggregationType, Asset } from '../model/asset.js';
import type { SignedAggregate } from '../model/records.js';
import { aggregateJson } from './aggregate_json.js';
import { type Route, readAssets } from './rest.js';

export interface PriceSource {
  readonly assets: readonly Asset[];
  assetBySymbol(symbol: string): Asset | undefined;
  /** `undefined` while the asset has no live price. */
  latest(asset: Asset): SignedAggregate | undefined;
}

export interface RouteOptions {
  readonly prices: PriceSource;
  /** The configuration's `service.name`. */
  readonly serviceName: string;
  readonly taxonomyId: number;
  readonly encodedAssetId: (symbol: string) => string;
  readonly assetsPerRequestMax: number;
  /** Shown wherever assets are listed when the prices are simulated. */
  readonly simulation: boolean;
}

/** What the service answers under each path. */
export function createRoutes(options: RouteOptions): ReadonlyMap<string, Route> {
  const { prices, serviceName, encodedAssetId, assetsPerRequestMax } = options;
  const toJson = cachedJson((aggregate) => aggregateJson(aggregate, serviceName, encodedAssetId));

  return new Map<string, Route>([
    [
      '/v1/prices/assets',
      {
        handle: (_query, token) =>
          prices.assets.length === 0
            ? { status: 404, error: 'the catalogue is empty' }
            : { data: JSON.stringify(visible(prices.assets, token!).map(({ symbol }) => symbol)) },
      },
    ],
    [
      '/v1/prices/latest',
      {
        handle(query, token) {
          const assets = readAssets(query, token!, assetsPerRequestMax, prices.assetBySymbol);
          if ('error' in assets) return assets;
          const entries: string[] = [];
          for (const asset of assets) {
            const aggregate = prices.latest(asset);
            if (aggregate) entries.push(`${JSON.stringify(asset.symbol)}:${toJson(aggregate)}`);
          }
          return { data: `{${entries.join()}}` };
        },
      },
    ],
    ['/v1/taxonomy', { handle: (_query, token) => ({ data: taxonomyJson(options, token!) }) }],
    ['/v1/algorithms', { handle: () => ({ data: ALGORITHMS_JSON }) }],
  ]);
}

interface AssetRights {
  maySee(symbol: string): boolean;
}

function visible(assets: readonly Asset[], token: AssetRights): readonly Asset[] {
  return assets.filter(({ symbol }) => token.maySee(symbol));
}

function taxonomyJson({ taxonomyId, prices, simulation }: RouteOptions, token: AssetRights): string {
  return JSON.stringify({
    taxonomy_id: taxonomyId,
    ...(simulation && { simulation }),
    assets: visible(prices.assets, token).map(({ id, symbol, signatureType, aggregation, calendar }) => ({
      asset_id: id,
      name: symbol,
      signature_type: signatureType,
      aggregation,
      calendar,
    })),
  });
}

const ALGORITHM_TYPES: readonly AggregationType[] = ['median', 'average', 'weighted average'];

/** The written definitions: the SHA-256 of `definition` in UTF-8 is the `checksum` in every signed aggregate. */
const ALGORITHMS_JSON = JSON.stringify(
  ALGORITHM_TYPES.map((type) => ({
    type,
    version: ALGORITHM_VERSION,
    checksum: algorithmChecksum(type),
    definition: algorithmDefinition(type),
  })),
);

/** An aggregate is asked for many times between two signatures; its text is made once. */
function cachedJson(write: (aggregate: SignedAggregate) => string): (aggregate: SignedAggregate) => string {
  const texts = new WeakMap<SignedAggregate, string>();
  return (aggregate) => {
    let text = texts.get(aggregate);
    if (text === undefined) {
      text = write(aggregate);
      texts.set(aggregate, text);
    }
    return text;
  };
}
