import { UINT16_MAX } from '../../wire/asset_id.js';
import { DEFAULT_SIGNATURE_TYPE, SIGNATURE_TYPES } from '../../wire/signatures.js';
import { type MappedAsset, statementEntries } from '../../wire/taxonomy_statement.js';
import { EquivocationError, type TicksealError, UnsignedMappingError } from '../connect/errors.js';
import { bytesToHex } from '../verify/bytes.js';
import { type SignerSource, signersOf } from '../verify/checks.js';
import { formatEvidence } from '../verify/evidence_file.js';
import { checkStatement } from '../verify/verify_statement.js';
import type { Taxonomy } from './taxonomy.js';

/** The largest number of lists that the memory holds. A list is held if it has an ID that the lists before it lack. */
const LISTS_MAX = 8;

/** A signed list, with the meaning of each of its IDs. */
interface KnownList {
  readonly taxonomy: Taxonomy;
  readonly meanings: ReadonlyMap<number, string>;
}

/** A taxonomy that the client accepts. */
export interface AcceptedTaxonomy {
  readonly taxonomy: Taxonomy;
  /** True when a signer has signed the mapping, or the user has pinned it. False with unchecked signers. */
  readonly isChecked: boolean;
}

/**
 * The mappings of streaming IDs that a client accepts from the services of its operator. Under one taxonomy ID an ID has one meaning
 * forever. So two signed meanings are a proof against the operator, and the client then accepts no mapping at all.
 */
export class Meanings {
  readonly #signers: SignerSource;
  readonly #pinned: ReadonlyMap<number, string> | undefined;
  readonly #onTwoMeanings: (error: TicksealError) => void;
  #known: readonly KnownList[] = [];
  #contradiction: EquivocationError | undefined;

  /**
   * @param ids the option `ids` of the client
   * @param onTwoMeanings called once, with the first contradiction
   * @throws RangeError for invalid IDs
   */
  constructor(
    signers: SignerSource,
    ids: Readonly<Record<string, number>> | undefined,
    onTwoMeanings: (error: TicksealError) => void,
  ) {
    this.#signers = signers;
    this.#pinned = ids && pinnedOf(ids);
    this.#onTwoMeanings = onTwoMeanings;
  }

  /**
   * Checks the mapping of a taxonomy.
   * @param url the service that sent it
   * @throws UnsignedMappingError when no signer has signed the mapping, or when the mapping contradicts the option `ids`
   * @throws EquivocationError when the operator has given two meanings to an ID
   */
  accept(url: string, taxonomy: Taxonomy): AcceptedTaxonomy {
    if (this.#contradiction !== undefined) throw this.#contradiction;
    if (this.#pinned !== undefined) return acceptPinned(url, taxonomy, this.#pinned);
    const report = this.#checkTaxonomy(taxonomy);
    if (report === 'unchecked') return { taxonomy, isChecked: false };
    const { fault, signer } = report;
    if (fault !== undefined) throw new UnsignedMappingError(url, fault, signer);
    this.#rememberList(url, taxonomy);
    return { taxonomy, isChecked: true };
  }

  #checkTaxonomy(taxonomy: Taxonomy): ReturnType<typeof checkStatement> | 'unchecked' {
    try {
      // The signers may be a function of the user, which is called here.
      const signers = signersOf(this.#signers);
      return signers === 'unchecked' ? signers : checkStatement(taxonomy, signers);
    } catch (error) {
      return { fault: String(error) };
    }
  }

  #rememberList(url: string, taxonomy: Taxonomy): void {
    const known = this.#known.filter((one) => one.taxonomy.taxonomyId === taxonomy.taxonomyId);
    const meanings = new Map(taxonomy.assets.map((asset) => [asset.id, meaningOf(asset)]));
    for (const [id, meaning] of meanings) {
      const other = known.find((one) => (one.meanings.get(id) ?? meaning) !== meaning);
      if (other !== undefined) this.#reportContradiction(url, other.taxonomy, taxonomy, id, meaning);
    }
    if ([...meanings.keys()].some((id) => !known.some((one) => one.meanings.has(id))))
      this.#known = [...this.#known, { taxonomy, meanings }].slice(-LISTS_MAX);
  }

  #reportContradiction(url: string, one: Taxonomy, other: Taxonomy, id: number, meaning: string): never {
    const statement = `two meanings of asset ${id} of taxonomy ${one.taxonomyId} are signed`;
    const entriesOf = ({ assets }: Taxonomy) => bytesToHex(statementEntries(assets));
    const evidence = formatEvidence({
      kind: 'two meanings',
      statements: [one.statement!, other.statement!],
      entries: [entriesOf(one), entriesOf(other)],
    });
    this.#contradiction = new EquivocationError(url, meaning, statement, evidence);
    this.#onTwoMeanings(this.#contradiction);
    throw this.#contradiction;
  }
}

function meaningOf({ symbol, signatureType }: MappedAsset): string {
  return `${signatureType} ${symbol}`;
}

function pinnedOf(ids: Readonly<Record<string, number>>): ReadonlyMap<number, string> {
  const pinned = new Map<number, string>();
  for (const [name, id] of Object.entries(ids)) {
    if (!(Number.isInteger(id) && id >= 0 && id <= UINT16_MAX) || pinned.has(id))
      throw new RangeError(`ids: ${id} of ${name} is not an ID, or has two names`);
    pinned.set(id, hasType(name) ? name : `${DEFAULT_SIGNATURE_TYPE} ${name}`);
  }
  return pinned;
}

function hasType(name: string): boolean {
  return SIGNATURE_TYPES.some((type) => name.startsWith(`${type} `));
}

/** Accepts the pinned assets of a taxonomy, without a statement. */
function acceptPinned(
  url: string,
  taxonomy: Taxonomy,
  pinned: ReadonlyMap<number, string>,
): AcceptedTaxonomy {
  const names = [...pinned.values()];
  const assets = taxonomy.assets.filter((asset) => pinned.has(asset.id) || names.includes(meaningOf(asset)));
  for (const asset of assets)
    if (pinned.get(asset.id) !== meaningOf(asset))
      throw new UnsignedMappingError(url, `ID ${asset.id} is ${meaningOf(asset)}, unlike in ids`);
  return { taxonomy: { ...taxonomy, assets }, isChecked: true };
}
