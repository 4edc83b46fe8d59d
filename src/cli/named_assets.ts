import { RefusedError } from '../client/connect/errors.js';
import { createStreamClient } from '../client/node_index.js';
import { idsBySymbol, type Taxonomy } from '../client/prices/taxonomy.js';
import { isIdName, namedId, unknownSymbols } from '../wire/asset_id.js';
import { REST_PATHS } from '../wire/paths.js';
import type { SignatureType } from '../wire/signatures.js';
import { REFUSALS } from './client_command.js';
import { ownText, reasonText, type Shown, shown } from './shown_line.js';

/** The options of each command that names assets. */
export interface NamingOptions {
  readonly url: string;
  readonly token: string;
  /** The signature type of the assets that symbols name. */
  readonly type?: SignatureType;
  readonly signer?: readonly string[];
}

export interface NamedAssets {
  readonly ids: readonly number[];
  /** The taxonomy ID under which the symbols have these IDs; `undefined` if the user named IDs only. */
  readonly taxonomyId: number | undefined;
}

/** Returns the streaming IDs of the named assets. Asks the service for symbols. Returns a text if an asset is unknown. */
export async function resolveAssets(
  assets: readonly string[],
  options: NamingOptions,
): Promise<NamedAssets | Shown> {
  const taxonomy = assets.every(isIdName) ? undefined : await readTaxonomy(options);
  if (taxonomy !== undefined && !('assets' in taxonomy)) return taxonomy;
  const idBySymbol =
    taxonomy === undefined ? new Map<string, number>() : idsBySymbol(taxonomy.assets, options.type);
  const ids = assets.map((asset) => namedId(asset, (symbol) => idBySymbol.get(symbol)));
  const unknown = assets.filter((_, i) => ids[i] === undefined);
  const kind = options.type === undefined ? '' : `${options.type} `;
  if (unknown.length > 0)
    return reasonText(
      `the service has no ${kind}asset ${unknownSymbols(unknown, (symbol) => idBySymbol.has(symbol), true)}`,
    );
  return { ids: ids as number[], taxonomyId: taxonomy?.taxonomyId };
}

/** Reads the assets. With a signer, the signer must have signed their IDs. Returns a text if they cannot be read. */
async function readTaxonomy({ url, token, signer }: NamingOptions): Promise<Taxonomy | Shown> {
  try {
    return await createStreamClient({ urls: url, token, signers: signer ?? 'unchecked' }).taxonomy();
  } catch (error) {
    const refusal = error instanceof RefusedError ? REFUSALS[error.status] : undefined;
    return refusal === undefined
      ? reasonText((error as Error).message)
      : shown`${url}${REST_PATHS.taxonomy}: ${ownText(refusal)}`;
  }
}
