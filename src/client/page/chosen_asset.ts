import { instantText } from '../../model/instant.js';
import { NS_PER_MS, NS_PER_SECOND } from '../../model/time.js';
import type { Resolution } from '../../wire/rest_values.js';
import type { TaxonomyAsset } from '../index.js';
import type { BasePrices } from './base_prices.js';
import { isSameAsset, type Quote, SEAL_TEXTS, type Seal } from './board.js';
import { ageMs } from './connection_state.js';
import { contractCall, verifyCommand } from './copy_texts.js';
import { compareName } from './fragment.js';
import type { LivePrices } from './live_prices.js';
import type { LogRing } from './log_ring.js';
import type { LogView } from './page_log.js';
import type { PinnedSigners } from './pins.js';
import type { PriceChart } from './price_chart.js';
import { ageText, clockText, doubleOf, momentText, titleText } from './price_text.js';
import type { ProofReader } from './proof_reader.js';
import type { SealFacts } from './seal_card.js';
import { agreementText, StreamedPrices } from './streamed_prices.js';

/** The resolution with which the page begins. */
export const FIRST_RESOLUTION: Resolution = '1';
/** The age above which a signed aggregate looks old. */
const OLD_MS = 300_000;

/** The parts of the page that show the chosen asset. */
export interface ChosenParts {
  readonly prices: LivePrices;
  readonly pins: PinnedSigners;
  readonly bases: BasePrices;
  readonly chart: PriceChart;
  readonly proof: ProofReader;
  readonly ring: LogRing;
  /** Returns the service's time in UNIX ms. */
  readonly serviceMs: () => number;
}

/** The reader's choice. */
export interface AssetChoice {
  readonly asset: TaxonomyAsset | undefined;
  readonly resolution: Resolution;
  /** The past time; `undefined` for the present. */
  readonly atNs: bigint | undefined;
  /** The name of the compared asset in the address. */
  readonly compare: string | undefined;
}

/** The price that the page shows for the chosen asset; the quote is absent at a past time. */
export interface ShownPrice {
  readonly seal: Seal;
  readonly sealText: string;
  readonly price: bigint | undefined;
  readonly quote: Quote | undefined;
  readonly title: string;
}

/** The chosen asset at the present or at a past time, with its chart and its proof. */
export class ChosenAsset {
  readonly #parts: ChosenParts;
  readonly #streamed = new StreamedPrices();
  #choice: AssetChoice = {
    asset: undefined,
    resolution: FIRST_RESOLUTION,
    atNs: undefined,
    compare: undefined,
  };
  #chartedNs = 0n;
  #comparedNs = 0n;
  #historyProblem: string | undefined;

  constructor(parts: ChosenParts) {
    this.#parts = parts;
  }

  get choice(): AssetChoice {
    return this.#choice;
  }

  set historyProblem(problem: string | undefined) {
    this.#historyProblem = problem;
  }

  /** Returns the asset that the chart compares. An asset is not compared with itself. */
  get compared(): TaxonomyAsset | undefined {
    const { asset, compare } = this.#choice;
    const found = this.#parts.prices.board.assets.find((one) => compareName(one) === compare);
    return isSameAsset(found, asset) ? undefined : found;
  }

  /**
   * Shows another choice. @param isNew true for an asset whose description has changed
   * @returns true for another asset or time
   */
  show(choice: AssetChoice, isNew = false): boolean {
    const before = this.#choice;
    const { chart, proof, ring } = this.#parts;
    const { asset, resolution, atNs, compare } = choice;
    this.#choice = choice;
    const isOther = isNew || !isSameAsset(before.asset, asset) || before.atNs !== atNs;
    if (isOther) {
      this.#streamed.clear();
      this.#chartedNs = 0n;
      proof.show(asset, atNs);
      ring.forget();
    }
    if (asset !== undefined && (isOther || before.resolution !== resolution || before.compare !== compare))
      chart.show({ asset, compared: this.compared, resolution, atNs });
    return isOther;
  }

  /** Adds the newest verified price to the chart. */
  continueChart(): void {
    const { asset, atNs } = this.#choice;
    if (atNs !== undefined || asset === undefined) return;
    const { prices, chart } = this.#parts;
    const quote = prices.board.quote(asset);
    if (quote !== undefined && quote.timestampNs !== this.#chartedNs) {
      this.#chartedNs = quote.timestampNs;
      this.#streamed.add(quote);
      chart.add(doubleOf(quote.price), secondsOf(quote));
    }
    const other = this.compared && prices.board.quote(this.compared);
    if (other === undefined || other.timestampNs === this.#comparedNs) return;
    this.#comparedNs = other.timestampNs;
    chart.addCompared(doubleOf(other.price), secondsOf(other));
  }

  /** The element of the chart. */
  get chart(): Element {
    return this.#parts.chart.element;
  }

  /** The assets with which the chart can compare. */
  get others(): readonly TaxonomyAsset[] {
    return this.#parts.prices.board.assets;
  }

  /** The state of a price in the public log; `undefined` before it is known. */
  get log(): LogView | undefined {
    return this.#parts.ring.state;
  }

  /** Describes the history under the chart, or the reason why it is missing. */
  get history(): string {
    const rest =
      this.#choice.atNs === undefined
        ? '; what follows it live is verified.'
        : '. Its last candle may end after the chosen time.';
    return this.#historyProblem ?? `History is not signed${rest}`;
  }

  change(asset: TaxonomyAsset, price: bigint): number | undefined {
    return this.#parts.bases.change(asset, price);
  }

  /** Compares stream, aggregate and publishers in one line; empty for a past time. */
  agreement(quote: Quote | undefined): string {
    const { form, report } = this.#parts.proof.proven?.proof ?? {};
    const signed = report?.verdict === 'verified' ? form : undefined;
    return quote === undefined
      ? ''
      : agreementText(quote, signed, signed && this.#streamed.difference(signed));
  }

  /** Returns the facts behind the seal. */
  sealFacts(asset: TaxonomyAsset, nowMs: number): SealFacts {
    const { atNs } = this.#choice;
    const { prices, pins, proof, ring } = this.#parts;
    const { seal, sealText } = this.shown(asset, nowMs);
    const { proven } = proof;
    const pin = pins.get('stream');
    const payload = atNs === undefined ? prices.payloadOf(asset) : undefined;
    const command =
      proven &&
      verifyCommand({
        answer: proven.request.answer,
        asset,
        signer: proven.request.signers[0]!,
        oracleId: prices.taxonomy?.oracleId,
      });
    const call = () => {
      const newest = prices.payloadOf(asset);
      return newest && contractCall(newest.hex, asset.id);
    };
    return {
      symbol: asset.symbol,
      sealText,
      isVerified: seal === 'verified',
      proven,
      remark: this.#remark(),
      pin: pins.get(asset.signatureType),
      frame: payload === undefined || pin === undefined ? undefined : { ...payload, id: asset.id, pin },
      log: ring.state,
      command,
      ...(atNs === undefined && { contractCall: call }),
    };
  }

  /** Returns the price of the asset at the chosen time, with its seal. */
  shown(asset: TaxonomyAsset, nowMs: number): ShownPrice {
    const { atNs } = this.#choice;
    return atNs === undefined ? this.#present(asset, nowMs) : this.#past(asset, atNs);
  }

  #present(asset: TaxonomyAsset, nowMs: number): ShownPrice {
    const { board } = this.#parts.prices;
    const quote = board.quote(asset);
    const seal = board.seal(asset, nowMs);
    // A stale price is named with its time, because a picture of the page may be shown to others later.
    const asOf =
      seal === 'stale' && quote !== undefined
        ? `, as of ${clockText(Number(quote.timestampNs / NS_PER_MS))}`
        : '';
    const text = SEAL_TEXTS[seal] + asOf;
    const sealText = board.fault === undefined ? text : `${text}: ${board.fault.reason}`;
    return { seal, sealText, price: quote?.price, quote, title: titleText(asset.symbol, quote?.price, text) };
  }

  #past(asset: TaxonomyAsset, atNs: bigint): ShownPrice {
    const { proven, problem } = this.#parts.proof;
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
    const { proof, serviceMs } = this.#parts;
    const signedNs = proof.proven?.proof.form?.service.timestampNs;
    if (signedNs === undefined) return proof.problem;
    const at = clockText(Number(signedNs / NS_PER_MS));
    if (proof.problem !== undefined) return `${proof.problem} This is the last proof, as of ${at}.`;
    const oldMs = ageMs(signedNs, serviceMs());
    if (this.#choice.atNs !== undefined || oldMs <= OLD_MS) return undefined;
    return `The service signed its newest aggregate ${ageText(oldMs)} ago.`;
  }

  /** Returns the past time in the form of the address. */
  get at(): string | undefined {
    return this.#choice.atNs === undefined ? undefined : instantText(this.#choice.atNs);
  }
}

function secondsOf({ timestampNs }: Quote): number {
  return Number(timestampNs / NS_PER_SECOND);
}
