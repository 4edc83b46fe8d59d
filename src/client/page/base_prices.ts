import { REST_PATHS } from '../../wire/paths.js';
import type { SignatureType } from '../../wire/signatures.js';
import type { TaxonomyAsset } from '../taxonomy.js';
import { readBasePrices } from './answers.js';
import type { PacedRest } from './paced_rest.js';

/** As many symbols as the service takes in one request. */
const SYMBOLS_MAX = 100;
const DAY_MS = 86_400_000;
const SCALE = 1e18;

/** The prices that changes count from: the last close before today. They are read for the assets that are seen. */
export class BasePrices {
  readonly #api: PacedRest;
  /** `undefined` while it is read, and for an asset without one. */
  readonly #bases = new Map<number, number | undefined>();
  #day = 0;

  constructor(api: PacedRest) {
    this.#api = api;
  }

  /** Reads what is not known of these assets. */
  async read(assets: readonly TaxonomyAsset[]): Promise<void> {
    const today = Math.floor(Date.now() / DAY_MS);
    if (today !== this.#day) this.#bases.clear();
    this.#day = today;
    const unknown = assets.filter(({ id }) => !this.#bases.has(id));
    for (const { id } of unknown) this.#bases.set(id, undefined);
    for (const type of ['evm', 'stark'] as const) {
      const ofType = unknown.filter(({ signatureType }) => signatureType === type);
      for (let i = 0; i < ofType.length; i += SYMBOLS_MAX)
        await this.#readSome(ofType.slice(i, i + SYMBOLS_MAX), type);
    }
  }

  /** The change of a price against its base. */
  change({ id }: TaxonomyAsset, price: bigint): number | undefined {
    const base = this.#bases.get(id);
    return base === undefined ? undefined : (Number(price) / SCALE - base) / Math.abs(base);
  }

  async #readSome(assets: readonly TaxonomyAsset[], type: SignatureType): Promise<void> {
    try {
      const symbols = assets.map(({ symbol }) => symbol).join();
      const bases = readBasePrices(
        await this.#api.query(REST_PATHS.udfQuotes, { symbols, signature_type: type }),
      );
      for (const { id, symbol } of assets) this.#bases.set(id, bases.get(symbol));
    } catch {
      // Without its base an asset has no change; the next time that it is seen it is asked for again.
      for (const { id } of assets) this.#bases.delete(id);
    }
  }
}
