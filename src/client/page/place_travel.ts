import type { TaxonomyAsset } from '../prices/taxonomy.js';
import type { AssetDetail } from './asset_detail.js';
import { assetKey, type Board } from './board.js';
import type { CompareChoice } from './compare_choice.js';
import { assetAt, type PagePlace, readPlace } from './fragment.js';
import { PageAddress } from './page_address.js';
import type { StateBar } from './state_bar.js';
import type { TimeTravel } from './time_travel.js';

/** The width below which the page shows either the list or the chosen asset. The style sheet has the same width. */
export const NARROW = matchMedia('(max-width: 60rem)');

export interface PlaceTravelOptions {
  readonly board: Board;
  /** Shows a remark about a place that the page cannot show. */
  readonly states: Pick<StateBar, 'showRemark'>;
  readonly detail: AssetDetail;
  readonly compare: CompareChoice;
  readonly time: TimeTravel;
  /** Chooses an asset in the list. */
  readonly choose: (asset: TaxonomyAsset) => void;
  /** Shows the chosen asset again, at another time. */
  readonly show: (asset: TaxonomyAsset) => void;
  /** Called after another asset is compared. */
  readonly onCompared: () => void;
  /** Shows the chosen asset or the list on a narrow screen. */
  readonly showDetail: (isShown: boolean) => void;
}

/** The page's place: the asset, the candles, the time and the compared asset. The address always contains the same place. */
export class PlaceTravel {
  readonly #options: PlaceTravelOptions;
  readonly #address = new PageAddress((place) => this.#travel(place));

  constructor(options: PlaceTravelOptions) {
    this.#options = options;
  }

  /** The place of the chosen asset, at the time that the page shows. */
  get place(): PagePlace {
    const { detail, time, compare } = this.#options;
    const { asset, resolution } = detail;
    return {
      symbol: asset?.symbol,
      signatureType: asset?.signatureType,
      resolution,
      at: time.text,
      compare: compare.name,
    };
  }

  /** Returns true if the address names an asset. */
  get hasAsset(): boolean {
    return this.#address.place.symbol !== undefined;
  }

  /** Writes the reader's choice into the address. On a narrow screen a key also leads from the list to the asset. */
  goTo(by: 'click' | 'key'): void {
    this.#options.states.showRemark(undefined);
    if (by === 'click' || NARROW.matches) this.#address.push(this.place);
    else this.#address.pushAfterRest(this.place);
  }

  /** Goes to the time that the reader selected; `undefined` for the present. */
  goToTime(at: string | undefined): void {
    this.#options.states.showRemark(undefined);
    this.#address.push({ ...this.place, at });
    this.#showTime(at);
  }

  /** Goes from the asset to the list. */
  leave(): void {
    this.#address.push(readPlace(''));
  }

  /** Opens the place of the address when the assets are known; on a wide screen without a place, the first asset. */
  open(): void {
    const { place } = this.#address;
    const { board, detail, choose } = this.#options;
    this.#travel(place);
    if (NARROW.matches) {
      if (detail.asset === undefined || this.#address.isInside) return;
      // The list becomes the entry before the asset, so that Back leads there and not away from the page.
      const { symbol, ...rest } = this.place;
      this.#address.replace({ ...rest, symbol: undefined });
      this.#address.push({ ...rest, symbol, at: place.at });
      return;
    }
    if (detail.asset === undefined) choose(board.assets[0]!);
    this.#address.replace(this.place);
  }

  /**
   * @param next the asset that the caller chooses next. The method shows the asset at the new time only if it stays the same; otherwise
   *   the caller's choice shows the next asset
   */
  #showTime(at: string | undefined, next = this.#options.detail.asset): void {
    const { time, show } = this.#options;
    const { asset } = this.#options.detail;
    if (time.goTo(at) && asset && next && assetKey(asset) === assetKey(next)) show(asset);
  }

  /** Shows the place that the reader went to. */
  #travel(place: PagePlace): void {
    const { board, states, detail, choose, showDetail } = this.#options;
    const asset = assetAt(board.assets, place);
    states.showRemark(undefined);
    this.#showTime(place.at, asset);
    if (asset !== undefined) {
      this.#showCompared(place.compare);
      if (place.resolution !== detail.resolution) detail.showResolution(place.resolution);
      choose(asset);
    } else if (place.symbol === undefined) {
      if (NARROW.matches) showDetail(false);
    } else if (board.assets.length > 0)
      states.showRemark(`The link names the asset ${place.symbol}, which this service does not have.`);
  }

  #showCompared(name: string | undefined): void {
    const { compare, onCompared } = this.#options;
    if (name === compare.name) return;
    compare.choose(name);
    onCompared();
  }
}
