import type { TaxonomyAsset } from '../index.js';
import { assetKey, type Quote, SEAL_TEXTS, type Seal } from './board.js';
import type { LivePrices } from './live_prices.js';
import type { LogRing } from './log_ring.js';
import type { PinnedSigners } from './pins.js';
import { assetAt, compareName, readPlace } from './place.js';
import type { PriceChart } from './price_chart.js';
import {
  ageText,
  agreementText,
  clockText,
  doubleOf,
  matchText,
  momentText,
  readMoment,
  titleText,
} from './price_text.js';
import type { ProofReader } from './proof_reader.js';
import type { SealFacts } from './seal_card.js';
import { StreamedPrices } from './streamed_prices.js';

/** The age above which a signed aggregate looks old. */
const OLD_MS = 300_000;

/** The parts of the page that show the chosen asset. */
export interface ChosenParts {
  readonly prices: LivePrices;
  readonly pins: PinnedSigners;
  readonly chart: PriceChart;
  readonly proof: ProofReader;
  readonly ring: LogRing;
  /** Returns the service's time in UNIX ms. */
  readonly serviceMs: () => number;
}

/** The price that the page shows for the chosen asset; the quote is absent at a past time. */
export interface ShownPrice {
  readonly seal: Seal;
  readonly sealText: string;
  readonly price: bigint | undefined;
  readonly quote: Quote | undefined;
  readonly title: string;
}

/** The asset and the time of the address, with their chart and proof. */
export class ChosenAsset {
  readonly parts: ChosenParts;
  readonly #streamed = new StreamedPrices();
  place = readPlace(location.hash);
  asset: TaxonomyAsset | undefined;
  /** The asset that the chart compares. */
  compared: TaxonomyAsset | undefined;
  /** The past time in UNIX nanoseconds; `undefined` for the present. */
  atNs: bigint | undefined;
  /** The text for the chosen asset and time, and the one for all that the chart shows. */
  #shown = '';
  #charted = '';

  constructor(parts: ChosenParts) {
    this.parts = parts;
  }

  /** Shows what the address names. @returns true for another asset or time */
  follow(): boolean {
    const { prices, chart, proof, ring } = this.parts;
    const { assets } = prices.board;
    this.place = readPlace(location.hash);
    this.asset = assetAt(assets, this.place);
    this.atNs = readMoment(this.place.at);
    this.compared = assets.find((one) => compareName(one) === this.place.compare && one !== this.asset);
    const { asset, compared, atNs, place } = this;
    const shown = `${asset && assetKey(asset)} ${atNs}`;
    const charted = `${shown} ${compared && assetKey(compared)} ${place.resolution}`;
    const isOther = shown !== this.#shown;
    if (isOther) {
      this.#streamed.clear();
      proof.show(asset, atNs);
      ring.forget();
    }
    if (asset !== undefined && charted !== this.#charted)
      chart.show({ asset, compared, resolution: place.resolution, atNs });
    [this.#shown, this.#charted] = [shown, charted];
    return isOther;
  }

  /** Returns the fault of the address, as a sentence; empty for none. */
  get fault(): string {
    const { at, asset } = this.place;
    if (at !== undefined && this.atNs === undefined)
      return `The link names the time ${at}, which is not a time such as 2026-11-20T12:00:00Z. The page shows the present.`;
    return this.asset === undefined && this.parts.prices.board.assets.length > 0
      ? `The link names the asset ${asset}, which this service does not have.`
      : '';
  }

  /** Adds a verified price to the chart, if the chart shows its asset. */
  takeQuote(quote: Quote): void {
    if (this.atNs !== undefined) return;
    const key = quote.symbol;
    const isCompared = this.compared !== undefined && key === assetKey(this.compared);
    const isChosen = this.asset !== undefined && key === assetKey(this.asset);
    if (isChosen) this.#streamed.add(quote);
    if (isCompared || isChosen)
      this.parts.chart.add(doubleOf(quote.price), Number(quote.timestampNs / 1_000_000_000n), isCompared);
  }

  /** Compares stream, aggregate and publishers in one line; empty for a past time. */
  agreement(quote: Quote | undefined): string {
    if (quote === undefined) return '';
    const { form, report } = this.parts.proof.proven?.proof ?? {};
    const signed = report?.verdict === 'verified' ? form : undefined;
    const difference = signed && this.#streamed.difference(signed);
    return agreementText(
      quote.attributes,
      difference === undefined ? '' : matchText(difference, signed!.price),
    );
  }

  /** Returns the facts behind the seal. */
  sealFacts(asset: TaxonomyAsset): SealFacts {
    const { prices, pins, proof, ring } = this.parts;
    const { seal, sealText } = this.shown(asset);
    return {
      asset,
      sealText,
      isVerified: seal === 'verified',
      proven: proof.proven,
      remark: this.#remark(),
      pin: pins.get(asset.signatureType),
      streamPin: pins.get('stream'),
      frame: this.atNs === undefined ? prices.frameOf(asset) : undefined,
      log: ring.state,
    };
  }

  /** Returns the price of the asset at the chosen time, with its seal. */
  shown(asset: TaxonomyAsset): ShownPrice {
    return this.atNs === undefined ? this.#present(asset) : this.#past(asset, this.atNs);
  }

  #present(asset: TaxonomyAsset): ShownPrice {
    const { board } = this.parts.prices;
    const quote = board.quote(asset);
    const seal = board.seal(asset);
    // A stale price is named with its time, because a picture of the page may be shown to others later.
    const asOf =
      seal === 'stale' && quote !== undefined
        ? `, as of ${clockText(Number(quote.timestampNs / 1_000_000n))}`
        : '';
    const text = SEAL_TEXTS[seal] + asOf;
    const sealText = board.fault === undefined ? text : `${text}: ${board.fault.reason}`;
    return { seal, sealText, price: quote?.price, quote, title: titleText(asset.symbol, quote?.price, text) };
  }

  #past(asset: TaxonomyAsset, atNs: bigint): ShownPrice {
    const { proven, problem } = this.parts.proof;
    const { form, report } = proven?.proof ?? {};
    const failed = report?.checks.find(({ status }) => status === 'failed');
    const isVerified = report?.verdict === 'verified';
    const seal = isVerified ? 'verified' : failed === undefined ? 'waiting' : 'failed';
    const reason = failed === undefined ? problem : `${failed.name}: ${failed.reason}`;
    const signed = isVerified ? `, signed at ${momentText(form!.service.timestampNs)}` : '';
    const price = isVerified ? form!.price : undefined;
    const state = seal !== 'waiting' ? SEAL_TEXTS[seal] : reason === undefined ? 'reading' : 'no price';
    return {
      seal,
      sealText: (reason ?? SEAL_TEXTS[seal]) + signed,
      price,
      quote: undefined,
      title: titleText(asset.symbol, price, `${state} · ${momentText(atNs)}`),
    };
  }

  /** Returns the reason why there is no newer aggregate, or the age of an old one. */
  #remark(): string | undefined {
    const { proof, serviceMs } = this.parts;
    const signedNs = proof.proven?.proof.form?.service.timestampNs;
    if (signedNs === undefined) return proof.problem;
    const signedMs = Number(signedNs / 1_000_000n);
    if (proof.problem !== undefined)
      return `${proof.problem} This is the last proof, as of ${clockText(signedMs)}.`;
    const oldMs = serviceMs() - signedMs;
    if (this.atNs !== undefined || oldMs <= OLD_MS) return undefined;
    return `The service signed its newest aggregate ${ageText(oldMs)} ago.`;
  }
}
