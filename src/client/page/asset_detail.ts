import { html, nothing } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import type { TaxonomyAsset } from '../index.js';
import { RESOLUTIONS } from './chart_candles.js';
import type { ChosenAsset, ShownPrice } from './chosen_asset.js';
import { copyButton, sign, type View } from './parts.js';
import { compareName, hashWith, type PagePlace, sharedPlace } from './place.js';
import {
  changeSteps,
  changeText,
  exactPrice,
  marketText,
  momentText,
  shownDecimals,
  shownPrice,
  typeText,
} from './price_text.js';

/** The address of the licences, which the build writes into the page. */
const LICENCES = document.querySelector<HTMLLinkElement>('link[rel=license]')?.href ?? '';
/** The lengths of candles that are always in the control. The menu *More* has the others. */
const USUAL: readonly string[] = ['1', '5', '15', '60', '240', '1D'];
/** The times before the present that the card offers, in hours. */
const PRESETS = [
  ['An hour ago', 1],
  ['6 hours ago', 6],
  ['A day ago', 24],
  ['A week ago', 168],
] as const;
const HOUR_MS = 3_600_000;
const TIME_PATTERN = /\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?/.source;
const SECOND_LENGTH = 'YYYY-MM-DDTHH:MM:SS'.length;

/** Draws the chosen asset: its price, its seal, the chart and the choices about the chart. @param change the change in 24 hours */
export function detailView(asset: TaxonomyAsset, chosen: ChosenAsset, change: number | undefined): View {
  const shown = chosen.shown(asset);
  const { chart } = chosen.parts;
  const source = chosen.atNs === undefined ? '; what follows it live is verified.' : '.';
  return html`<section class="detail" data-seal=${shown.seal} aria-label="The chosen asset">${headView(asset, shown, chosen, change)}
<div class="choices">${intervalsView(chosen.place.resolution)}<div class="choices">${compareView(chosen)}${timeView(chosen)}</div></div>
<div class="chart-frame"><div class="legend"><p class="number">${chart.readOut}</p>${comparedView(chosen)}</div>${chart.element}</div>
<p id="agreement" class="number">${chosen.agreement(shown.quote)}</p>
<p class="under soft"><span id="history">${chart.problem ?? `History is not signed${source}`}</span> <a href="https://www.tradingview.com/" rel="noreferrer noopener" target="_blank">Charts by TradingView</a> <a href=${LICENCES}>Licences</a></p></section>`;
}

function headView(
  asset: TaxonomyAsset,
  shown: ShownPrice,
  chosen: ChosenAsset,
  change: number | undefined,
): View {
  const { sealText, price, quote } = shown;
  const { ring, pins } = chosen.parts;
  const market = quote === undefined ? '' : marketText(asset.calendar, quote.status);
  return html`<header class="head"><a id="back" href=${hashWith({ asset: undefined }, location.hash)} aria-label="Back to the assets">←</a>
<h1><span id="symbol" data-name=${asset.fullName ?? ''}>${asset.symbol}</span> <small class="type" data-simulation=${asset.simulation ?? ''}>${typeText(asset)}</small></h1>
<p class="now"><span id="price" class="number">${priceView(price)}</span> <span id="change" class="number" data-direction=${change === undefined ? '' : Math.sign(changeSteps(change))}>${change === undefined ? '' : changeText(change)}</span>
<span id="market" class="tag" data-market=${quote?.status ?? ''} ?hidden=${market === ''}>${market}</span></p>
${copyButton('Copy link', () => location.origin + location.pathname + sharedPlace(asset, pins, location.hash))}
<button type="button" id="verdict" class="sealed" popovertarget="seal" title="Why this seal?" data-log=${ring.state?.kind ?? ''}>${sign('verified')}<span>${sealText}</span><small>${ring.state?.text ?? ''}</small></button></header>`;
}

/** Draws the exact price. Digits that the list does not show are smaller. */
function priceView(price: bigint | undefined): View {
  if (price === undefined) return html`—`;
  const text = shownPrice(price, shownDecimals(price));
  return html`${text}<small>${exactPrice(price).slice(text.length)}</small>`;
}

/** Draws the lengths of candles as one control. A chosen length of the menu stands in the control too. */
function intervalsView(resolution: string): View {
  const choose = ({ target }: Event) => goTo({ resolution: (target as HTMLInputElement).value });
  const chooseOther = (event: Event) => {
    choose(event);
    (event.target as HTMLSelectElement).selectedIndex = 0;
  };
  const isShown = (value: string) => USUAL.includes(value) || value === resolution;
  const shown = [...RESOLUTIONS].filter(([value]) => isShown(value));
  const others = [...RESOLUTIONS].filter(([value]) => !isShown(value));
  const choices = shown.map(
    ([value, label]) =>
      html`<label><input type="radio" name="resolution" value=${value} .checked=${live(value === resolution)}>${label}</label>`,
  );
  return html`<div class="intervals"><div role="radiogroup" aria-label="Length of a candle" @change=${choose}>${choices}</div>
<select aria-label="Further lengths of a candle" @change=${chooseOther}><option>More</option>${others.map(([value, label]) => html`<option value=${value}>${label}</option>`)}</select></div>`;
}

/** Draws the chip of the compared asset, which ends the comparison. */
function comparedView({ compared }: ChosenAsset): View {
  if (compared === undefined) return nothing;
  const end = () => goTo({ compare: undefined });
  return html`<p class="legend-chip"><i class="dot"></i>${compared.symbol} <button type="button" class="close" aria-label="End the comparison with ${compared.symbol}" @click=${end}>×</button></p>`;
}

function compareView({ compared, parts }: ChosenAsset): View {
  const change = ({ target }: Event) => goTo({ compare: (target as HTMLSelectElement).value || undefined });
  const options = parts.prices.board.assets.map((asset) => {
    const name = compareName(asset);
    return html`<option value=${name} ?selected=${asset === compared}>${name} ${asset.fullName ?? ''}</option>`;
  });
  return html`<select id="compare" aria-label="Compare with another asset in the chart" title="Compare with another asset" .value=${compared === undefined ? '' : compareName(compared)} @change=${change}><option value="">Compare with…</option>${options}</select>`;
}

function timeView({ atNs, place, parts }: ChosenAsset): View {
  const go = (form: HTMLFormElement, time: string) => {
    form.hidePopover();
    goTo({ at: `${time.trim().replace(' ', 'T').padEnd(SECOND_LENGTH, ':00')}Z` });
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    go(form, String(new FormData(form).get('time')));
  };
  const presets = PRESETS.map(([name, hours]) => {
    const click = ({ target }: Event) => {
      const time = new Date(parts.serviceMs() - hours * HOUR_MS).toISOString();
      go((target as HTMLButtonElement).form!, time.slice(0, SECOND_LENGTH));
    };
    return html`<button type="button" class="plain-button" @click=${click}>${name}</button> `;
  });
  const shown = place.at?.slice(0, SECOND_LENGTH).replace('T', ' ') ?? '';
  const now =
    atNs === undefined
      ? nothing
      : html`<p id="time-text" class="tag" role="status">As it was signed at ${momentText(atNs)}</p><button type="button" id="time-now" class="plain-button" @click=${() => goTo({ at: undefined })}>Now</button>`;
  return html`${now}<button type="button" class="plain-button" popovertarget="travel">Go to time</button>
<form id="travel" class="card" popover @submit=${submit}><p>${presets}</p><label>Time in UTC <input name="time" required pattern=${TIME_PATTERN} title="a time such as 2026-11-20 14:30:00" placeholder="2026-11-20 14:30:00" autocomplete="off" spellcheck="false" .value=${shown}></label><button type="submit">Show</button></form>`;
}

/** Goes to a place: the present place with other values. */
function goTo(values: PagePlace): void {
  location.hash = hashWith(values, location.hash);
}
