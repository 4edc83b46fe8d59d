import type { SignatureType } from '../../wire/signatures.js';
import { TAXONOMY_PATH } from '../../wire/stream_paths.js';
import { ProtocolError } from '../connect/errors.js';
import type { RestService } from '../connect/rest_service.js';

/** The assets and signers of a service, from `/v1/taxonomy`. */
export interface Taxonomy {
  /** The number of this mapping of streaming IDs to symbols. */
  readonly taxonomyId: number;
  /** The service's oracle ID, which its Stark signatures cover. Older services do not report this ID. */
  readonly oracleId: string | undefined;
  /** The keys that the service declares as its own. The declaration alone does not make a key trusted. */
  readonly signers: readonly ServiceSigner[];
  /** The assets that the token covers. */
  readonly assets: readonly TaxonomyAsset[];
  /** `true` when all prices are simulated, as in the demo. */
  readonly simulation: boolean;
}

/** A key that the service declares as its own. */
export interface ServiceSigner {
  /** The checksummed address of an EVM key, or the x coordinate of a Stark key, in `0x` hex. */
  readonly address: string;
  /** The curve of the key. */
  readonly signatureType: SignatureType;
  /** The use of the key: `aggregate` for REST and on-chain aggregates, `stream` for the payloads of streams. */
  readonly role: 'aggregate' | 'stream';
}

/** An asset of a service. */
export interface TaxonomyAsset {
  /** The streaming ID. */
  readonly id: number;
  /** The name, such as `BTCUSD`. */
  readonly symbol: string;
  /** The signature type of the asset's aggregates and of its publishers' prices. */
  readonly signatureType: SignatureType;
  /** The algorithm that makes the asset's price: `median`, `average` or `weighted average`. */
  readonly aggregation: string;
  /** The name of the calendar of the asset's market; `none` for an asset that trades around the clock. */
  readonly calendar: string;
  /** The name for people, such as `Bitcoin`; `undefined` where the operator gave none. */
  readonly fullName?: string | undefined;
  /** The kind of asset, such as `crypto`; `undefined` where the operator gave none. */
  readonly assetClass?: string | undefined;
  /**
   * In a demo with prices of both kinds: `true` when the price is simulated, `false` when it is from real markets. Otherwise
   * `undefined`.
   */
  readonly simulation?: boolean | undefined;
}

/** Reads the taxonomy of a service. @throws the errors of {@link RestService.get}, and ProtocolError for an answer of another form. */
export async function fetchTaxonomy(rest: RestService): Promise<Taxonomy> {
  const data = (await rest.getData(TAXONOMY_PATH)) as TaxonomyData;
  if (!Number.isInteger(data?.taxonomy_id) || !Array.isArray(data.assets))
    throw new ProtocolError(rest.url, 'the taxonomy has no taxonomy_id and assets');
  return {
    taxonomyId: data.taxonomy_id,
    oracleId: data.oracle_id,
    signers: (data.signers ?? []).map(({ address, signature_type, role }) => ({
      address,
      signatureType: signature_type,
      role,
    })),
    assets: data.assets.map((asset) => ({
      id: asset.asset_id,
      symbol: asset.name,
      signatureType: asset.signature_type,
      aggregation: asset.aggregation,
      calendar: asset.calendar,
      ...(asset.full_name !== undefined && { fullName: asset.full_name }),
      ...(asset.class !== undefined && { assetClass: asset.class }),
      ...(asset.simulation !== undefined && { simulation: asset.simulation }),
    })),
    simulation: data.simulation ?? false,
  };
}

/** The signature type of a stream's assets. With both types, names are like `evm BTCUSD`. */
export type StreamedType = SignatureType | 'both';

/**
 * Returns the streaming IDs of all symbols.
 * @param type if absent, a symbol that has both types means its EVM asset
 */
export function idsBySymbol(taxonomy: Taxonomy, type?: StreamedType): ReadonlyMap<string, number> {
  const ids = new Map<string, number>();
  for (const { symbol, id, signatureType } of taxonomy.assets) {
    if (type === 'both') ids.set(`${signatureType} ${symbol}`, id);
    if (type !== undefined && signatureType !== type) continue;
    if (signatureType === 'evm' || !ids.has(symbol)) ids.set(symbol, id);
  }
  return ids;
}

interface TaxonomyData {
  readonly taxonomy_id: number;
  readonly oracle_id?: string;
  readonly simulation?: boolean;
  readonly signers?: readonly {
    readonly address: string;
    readonly signature_type: SignatureType;
    readonly role: 'aggregate' | 'stream';
  }[];
  readonly assets: readonly {
    readonly asset_id: number;
    readonly name: string;
    readonly signature_type: SignatureType;
    readonly aggregation: string;
    readonly calendar: string;
    readonly full_name?: string;
    readonly class?: string;
    readonly simulation?: boolean;
  }[];
}
