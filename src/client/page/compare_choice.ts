import type { TaxonomyAsset } from '../prices/taxonomy.js';
import { assetKey } from './board.js';
import { byId, element } from './elements.js';
import { compareName } from './fragment.js';

/** The choice of a second asset for the chart. */
export class CompareChoice {
  readonly #select = byId<HTMLSelectElement>('compare');
  #assets: readonly TaxonomyAsset[] = [];

  /** @param onChoose called after the reader's choice */
  constructor(onChoose: () => void) {
    this.#select.addEventListener('change', onChoose);
  }

  /** Offers these assets. The present choice stays if it is among them. */
  offer(assets: readonly TaxonomyAsset[]): void {
    this.#assets = assets;
    const before = this.#select.value;
    const options = assets.map((asset) => {
      const name = asset.fullName === undefined ? '' : ` ${asset.fullName}`;
      return element('option', { value: compareName(asset) }, `${compareName(asset)}${name}`);
    });
    this.#select.replaceChildren(element('option', { value: '' }, 'Compare with…'), ...options);
    this.choose(before);
  }

  /** Chooses an asset by its name in the address. With an unknown name, the chart compares no asset. */
  choose(name: string | undefined): void {
    this.#select.value = name ?? '';
    if (this.#select.selectedIndex === -1) this.#select.value = '';
  }

  /** The name in the address; `undefined` when no asset is compared. */
  get name(): string | undefined {
    return this.#select.value || undefined;
  }

  /** Returns the chosen asset. An asset is not compared with itself. */
  asset(shown: TaxonomyAsset | undefined): TaxonomyAsset | undefined {
    const found = this.#assets.find((asset) => compareName(asset) === this.#select.value);
    if (found === undefined || (shown !== undefined && assetKey(shown) === assetKey(found))) return undefined;
    return found;
  }
}
