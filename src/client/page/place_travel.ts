import { readInstant } from '../../model/instant.js';
import type { TaxonomyAsset } from '../index.js';
import type { ChosenBy } from './asset_list.js';
import { type Board, isSameAsset } from './board.js';
import { type ChosenAsset, FIRST_RESOLUTION } from './chosen_asset.js';
import { assetAt, type PagePlace, readPlace, shareFragment, writePlace } from './fragment.js';
import type { PinnedSigners } from './pins.js';

/**
 * The time without another key after which the page writes the place into the address. Browsers refuse more than 100 entries in
 * 30 s.
 */
const REST_MS = 400;
/** The state of an entry of the browser's history that the page has made itself, so that Back stays on the page. */
const OWN_ENTRY = 'inside';
/** The width below which the page shows either the list or the chosen asset. The style sheet has the same width. */
const NARROW = matchMedia('(max-width: 60rem)');

export interface PlaceTravelOptions {
  readonly board: Board;
  readonly pins: PinnedSigners;
  readonly chosen: ChosenAsset;
  /** Marks an asset in the list. */
  readonly mark: (asset: TaxonomyAsset) => void;
  /** Called after another asset or time was chosen. */
  readonly onOther: () => void;
  /** Called after each change. */
  readonly onChange: () => void;
}

/** The page's place: the asset, the candles, the time and the compared asset. The address always contains the same place. */
export class PlaceTravel {
  readonly #options: PlaceTravelOptions;
  /** The place in the address. */
  #address = readPlace(location.hash);
  #timer = 0;
  #remark: string;
  #isDetailed = false;

  /** @param remark a remark about the link that opened the page, which is shown until the reader goes to another place */
  constructor(remark: string, options: PlaceTravelOptions) {
    this.#remark = remark;
    this.#options = options;
    addEventListener('popstate', () => {
      clearTimeout(this.#timer);
      this.#address = readPlace(location.hash);
      this.#travel(this.#address);
    });
  }

  get remark(): string {
    return this.#remark;
  }

  /** Forgets the remark, because the reader sees something more important. */
  forgetRemark(): void {
    this.#remark = '';
  }

  /** True while a narrow screen shows the chosen asset instead of the list. */
  get isDetailed(): boolean {
    return this.#isDetailed;
  }

  get place(): PagePlace {
    const { choice, at } = this.#options.chosen;
    const { asset, resolution, compare } = choice;
    return { symbol: asset?.symbol, signatureType: asset?.signatureType, resolution, at, compare };
  }

  /** The link to the place, with the pinned signers and without the token. */
  get shareLink(): string {
    return location.origin + location.pathname + shareFragment(this.place, this.#options.pins);
  }

  /** Changes a part of the place, as the reader wants. On a narrow screen a key also leads from the list to the asset. */
  change(part: Partial<PagePlace>, by: 'click' | 'key'): void {
    this.#remark = '';
    const place = { ...this.place, ...part };
    clearTimeout(this.#timer);
    this.#address = place;
    // Several keys in quick succession make a single entry.
    if (by === 'click' || NARROW.matches) this.#write(place, 'push');
    else this.#timer = setTimeout(() => this.#write(place, 'push'), REST_MS);
    this.#show(assetAt(this.#options.board.assets, place), place);
  }

  /** Goes to the asset of a row. On a narrow screen the asset replaces the list, and Back returns to the list. */
  choose(asset: TaxonomyAsset, by: ChosenBy): void {
    const { symbol, signatureType } = asset;
    const isHere = isSameAsset(asset, this.#options.chosen.choice.asset);
    if (!isHere || this.#address.symbol === undefined) this.change({ symbol, signatureType }, by);
    if (NARROW.matches) this.#showDetail(true);
  }

  /** Opens the place of the address when the assets are known; on a wide screen without a place, the first asset. */
  open(): void {
    const place = this.#address;
    this.#travel(place, this.#remark);
    const { asset } = this.#options.chosen.choice;
    if (!NARROW.matches) {
      if (asset === undefined) this.#mark(this.#options.board.assets[0]!, place);
      this.#write(this.place, 'replace');
    } else if (asset !== undefined && history.state !== OWN_ENTRY) {
      // The list becomes the entry before the asset, so that Back leads there and not away from the page.
      this.#write({ ...this.place, symbol: undefined }, 'replace');
      this.#write({ ...this.place, at: place.at }, 'push');
    }
  }

  /** Updates the chosen asset, which may have another streaming ID now or may be removed. */
  follow(): void {
    const { board, chosen } = this.#options;
    const { asset: before } = chosen.choice;
    if (before === undefined) return;
    const after = board.assets.find((asset) => isSameAsset(asset, before));
    if (after === undefined) this.back();
    if (JSON.stringify(after) !== JSON.stringify(before)) this.#show(after, this.place, true);
  }

  /** Leaves the asset on a narrow screen. @returns true if the asset was shown there */
  back(): boolean {
    if (!this.#isDetailed) return false;
    this.#write(readPlace(''), 'push');
    this.#showDetail(false);
    return true;
  }

  /** Shows the place that the reader went to. @param remark a remark that stays if the place has none */
  #travel(place: PagePlace, remark = ''): void {
    const { symbol, at } = place;
    const { board, chosen } = this.#options;
    const asset = assetAt(board.assets, place);
    if (at !== undefined && readInstant(at) === undefined)
      this.#remark = `The link names the time ${at}, which is not a time such as 2026-11-20T12:00:00Z. The page shows the present.`;
    else if (symbol !== undefined && asset === undefined && board.assets.length > 0)
      this.#remark = `The link names the asset ${symbol}, which this service does not have.`;
    else this.#remark = remark;
    if (asset === undefined) this.#show(chosen.choice.asset, { ...this.place, at });
    else this.#mark(asset, place);
    if (NARROW.matches && (asset !== undefined || symbol === undefined))
      this.#showDetail(asset !== undefined);
  }

  /** Writes a place into a new entry of the browser's history, or into the current one. */
  #write(place: PagePlace, how: 'push' | 'replace'): void {
    clearTimeout(this.#timer);
    this.#address = place;
    const path = location.pathname + writePlace(place, { signers: [], streamSigner: undefined });
    if (how === 'push') history.pushState(OWN_ENTRY, '', path);
    else history.replaceState(history.state, '', path);
  }

  #mark(asset: TaxonomyAsset, place: PagePlace): void {
    this.#options.mark(asset);
    this.#show(asset, place);
  }

  /** @param isNew true for an asset whose description has changed */
  #show(asset: TaxonomyAsset | undefined, place: PagePlace, isNew = false): void {
    const { chosen, onOther, onChange } = this.#options;
    const { resolution = FIRST_RESOLUTION, at, compare } = place;
    const atNs = at === undefined ? undefined : readInstant(at);
    if (chosen.show({ asset, resolution, atNs, compare }, isNew)) onOther();
    onChange();
  }

  #showDetail(isShown: boolean): void {
    const isLeft = this.#isDetailed && !isShown;
    this.#isDetailed = isShown;
    this.#options.onChange();
    if (isLeft) document.getElementById('grid')?.focus({ preventScroll: true });
  }
}
