import { UINT16_MAX } from '../../wire/asset_id.js';
import { DEFAULT_SIGNATURE_TYPE, SIGNATURE_TYPES, type SignatureType } from '../../wire/signatures.js';
import { TAXONOMY_PATH } from '../../wire/stream_paths.js';
import type { MappedAsset } from '../../wire/taxonomy_statement.js';
import type { RestService } from '../connect/rest_service.js';
import { FormError, type FormReader } from '../verify/form_reader.js';

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
  /** The signature over the IDs, symbols and signature types of all assets, in hex. Older services do not sign them. */
  readonly statement?: string | undefined;
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
  /** The algorithm that makes the asset's price, such as `median`. */
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
  return rest.getForm(TAXONOMY_PATH, readTaxonomy);
}

/** Reads an answer of `/v1/taxonomy`, without a check of its mapping. @throws FormError for an answer of another form */
export function readTaxonomy(answer: FormReader): Taxonomy {
  const data = answer.child('data');
  const taxonomyId = data.integer('taxonomy_id');
  const assets = data.children('assets').map(assetOf);
  if (![taxonomyId, ...assets.map(({ id }) => id)].every((id) => id >= 0 && id <= UINT16_MAX))
    throw new FormError('an ID is not 0 to 65535');
  if (new Set(assets.map(({ id }) => id)).size < assets.length) throw new FormError('an ID is repeated');
  // A symbol with half of a surrogate pair has no UTF-8, so the statement would be of another symbol.
  if (!assets.every(({ symbol }) => /^\P{Cs}+$/u.test(symbol))) throw new FormError('a symbol is not text');
  return {
    taxonomyId,
    statement: data.optionalText('statement'),
    oracleId: data.optionalText('oracle_id'),
    signers: (data.has('signers') ? data.children('signers') : []).map(signerOf),
    assets,
    simulation: data.optionalTruth('simulation') ?? false,
  };
}

function signerOf(fields: FormReader): ServiceSigner {
  return {
    address: fields.text('address'),
    signatureType: fields.oneOf('signature_type', SIGNATURE_TYPES),
    // A later service may have other roles.
    role: fields.text('role') as ServiceSigner['role'],
  };
}

function assetOf(fields: FormReader): TaxonomyAsset {
  const [fullName, assetClass] = [fields.optionalText('full_name'), fields.optionalText('class')];
  const simulation = fields.optionalTruth('simulation');
  return {
    id: fields.integer('asset_id'),
    symbol: fields.text('name'),
    signatureType: fields.oneOf('signature_type', SIGNATURE_TYPES),
    aggregation: fields.optionalText('aggregation') ?? '',
    calendar: fields.optionalText('calendar') ?? '',
    ...(fullName !== undefined && { fullName }),
    ...(assetClass !== undefined && { assetClass }),
    ...(simulation !== undefined && { simulation }),
  };
}

/** The signature type of a stream's assets. With both types, names are like `evm BTCUSD`. */
export type StreamedType = SignatureType | 'both';

/**
 * Returns the streaming IDs of all symbols.
 * @param type if absent, a symbol that has both types means its EVM asset
 */
export function idsBySymbol(
  assets: readonly MappedAsset[],
  type?: StreamedType,
): ReadonlyMap<string, number> {
  const ids = new Map<string, number>();
  for (const { symbol, id, signatureType } of assets) {
    if (type === 'both') ids.set(`${signatureType} ${symbol}`, id);
    if (type !== undefined && signatureType !== type) continue;
    if (signatureType === DEFAULT_SIGNATURE_TYPE || !ids.has(symbol)) ids.set(symbol, id);
  }
  return ids;
}
