import { html } from 'lit-html';
import { instantText, readInstant } from '../../model/instant.js';
import type { Resolution } from '../../wire/rest_values.js';
import type { TaxonomyAsset } from '../index.js';
import type { Quote } from './board.js';
import type { ChosenAsset, ShownPrice } from './chosen_asset.js';
import { compareName } from './fragment.js';
import { CHART_INTERVALS } from './live_candles.js';
import { closeMenu, copyButton, flashedPrice, sign, type View } from './parts.js';
import type { PlaceTravel } from './place_travel.js';
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

/** The resolutions that are always in the control. The menu *More* has the others. */
const USUAL: readonly Resolution[] = ['1', '5', '15', '60', '240', '1D'];
/** The times before the present that the menu offers, in hours. */
const PRESETS: readonly (readonly [name: string, hours: number])[] = [
  ['An hour ago', 1],
  ['6 hours ago', 6],
  ['A day ago', 24],
  ['A week ago', 168],
];
const HOUR_MS = 3_600_000;
const SECOND_LENGTH = 'YYYY-MM-DDTHH:MM:SS'.length;

/** Draws the chosen asset: its price, its seal, the chart and the choices about the chart. */
export function detailView(
  asset: TaxonomyAsset,
  chosen: ChosenAsset,
  travel: PlaceTravel,
  nowMs: number,
): View {
  const shown = chosen.shown(asset, nowMs);
  return html`<section class="detail" data-seal=${shown.seal} aria-label="The chosen asset">${headView(asset, shown, chosen, travel)}
<div class="choices">${intervalsView(chosen, travel)}<div class="tools">${compareView(chosen, travel)}${timeView(chosen, travel)}</div></div>
${chosen.chart}
<p id="agreement" class="number">${chosen.agreement(shown.quote)}</p>
<p class="under soft"><span id="history">${chosen.history}</span> <a href="https://www.tradingview.com/" rel="noreferrer noopener" target="_blank">Charts by TradingView</a> <a href=${LICENCES}>Licences</a></p></section>`;
}

/** The address of the licences, which the build writes into the page. */
const LICENCES = document.querySelector<HTMLLinkElement>('link[rel=license]')?.href ?? '';

function headView(asset: TaxonomyAsset, shown: ShownPrice, chosen: ChosenAsset, travel: PlaceTravel): View {
  const { seal, sealText, price, quote } = shown;
  const { log } = chosen;
  const change = quote && chosen.change(asset, quote.price);
  const market = quote === undefined ? '' : marketText(asset.calendar, quote.marketStatus);
  return html`<header class="head"><button type="button" id="back" aria-label="Back to the assets" @click=${() => travel.back()}>←</button>
<h1><span id="symbol" data-name=${asset.fullName ?? ''}>${asset.symbol}</span> <small class="type" data-simulation=${asset.simulation ?? ''}>${typeText(asset)}</small></h1>
<p class="now"><span id="price" class="number">${priceView(price, quote)}</span> <span id="change" class="number" data-direction=${change === undefined ? '' : Math.sign(changeSteps(change))}>${change === undefined ? '' : changeText(change)}</span>
<span id="market" class="tag" data-market=${quote?.marketStatus ?? ''} ?hidden=${market === ''}>${market}</span></p>
<p id="share">${copyButton('Copy link', () => travel.shareLink)}</p>
<button type="button" id="verdict" class="sealed" popovertarget="seal" title="Why this seal?" data-log=${log?.kind ?? ''} data-seal=${seal}>${sign('verified')}<span>${sealText}</span><small>${log?.text ?? ''}</small></button></header>`;
}

/** Draws the exact price. Digits that the list does not show are smaller. */
function priceView(price: bigint | undefined, quote: Quote | undefined): View {
  if (price === undefined) return html`—`;
  const decimals = shownDecimals(price);
  const text = shownPrice(price, decimals);
  const before = quote === undefined ? text : shownPrice(quote.before, decimals);
  return html`${flashedPrice(text, before, quote, performance.now())}<small>${exactPrice(price).slice(text.length)}</small>`;
}

/** Draws the lengths of candles as one control. A chosen length of the menu stands in the control too. */
function intervalsView({ choice: { resolution } }: ChosenAsset, travel: PlaceTravel): View {
  const isShown = (one: Resolution) => USUAL.includes(one) || one === resolution;
  const button = (one: (typeof CHART_INTERVALS)[number], isInMenu: boolean) => {
    const isChosen = one.resolution === resolution;
    const names = one.alias === undefined ? one.resolution : `${one.alias} or ${one.resolution}`;
    const choose = ({ currentTarget }: Event) => {
      (currentTarget as Element).closest('details')?.removeAttribute('open');
      travel.change({ resolution: one.resolution }, 'click');
    };
    return html`<button type="button" role="radio" title="resolution ${names}" aria-checked=${isChosen} tabindex=${isChosen || isInMenu ? 0 : -1} @click=${choose}>${one.label}</button>`;
  };
  const shown = CHART_INTERVALS.filter((one) => isShown(one.resolution));
  const others = CHART_INTERVALS.filter((one) => !isShown(one.resolution));
  return html`<div class="segments"><div class="intervals" role="radiogroup" aria-label="Length of a candle">${shown.map((one) => button(one, false))}</div>
${menuView('more', 'More', html`<div class="menu-grid" role="radiogroup" aria-label="Further lengths of a candle">${others.map((one) => button(one, true))}</div>`)}</div>`;
}

function compareView({ choice: { compare }, others }: ChosenAsset, travel: PlaceTravel): View {
  const change = ({ target }: Event) =>
    travel.change({ compare: (target as HTMLSelectElement).value || undefined }, 'click');
  const isOffered = others.some((asset) => compareName(asset) === compare);
  const options = others.map((asset) => {
    const name = compareName(asset);
    return html`<option value=${name} ?selected=${name === compare}>${name} ${asset.fullName ?? ''}</option>`;
  });
  return html`<select id="compare" aria-label="Compare with another asset in the chart" title="Compare with another asset" .value=${isOffered ? compare : ''} @change=${change}><option value="">Compare with…</option>${options}</select>`;
}

function timeView({ choice: { atNs } }: ChosenAsset, travel: PlaceTravel): View {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.target as HTMLFormElement;
    const input = form.querySelector('input')!;
    const ns = readInstant(`${input.value.trim().replace(' ', 'T')}Z`);
    input.setCustomValidity(ns === undefined ? 'Write a time such as 2026-11-20 14:30:00.' : '');
    if (ns === undefined) return void input.reportValidity();
    go(form, instantText(ns));
  };
  const go = (inside: Element, at: string) => {
    inside.closest('details')!.open = false;
    travel.change({ at }, 'click');
  };
  const presets = PRESETS.map(([name, hours]) => {
    const click = ({ currentTarget }: Event) => {
      const at = new Date(Date.now() - hours * HOUR_MS).toISOString().slice(0, SECOND_LENGTH);
      go(currentTarget as Element, `${at}Z`);
    };
    return html`<button type="button" @click=${click}>${name}</button>`;
  });
  const shown = atNs === undefined ? '' : instantText(atNs).slice(0, SECOND_LENGTH).replace('T', ' ');
  const forgive = ({ target }: Event) => (target as HTMLInputElement).setCustomValidity('');
  const menu = html`<div class="menu-list">${presets}<form @submit=${submit}><label for="instant">Time in UTC</label>
<div class="field"><input id="instant" autocomplete="off" spellcheck="false" placeholder="2026-11-20 14:30:00" required .value=${shown} @input=${forgive}> UTC <button type="submit">Show</button></div></form></div>`;
  return html`<div id="time"><p id="time-text" class="tag" role="status" ?hidden=${atNs === undefined}>${atNs === undefined ? '' : `As it was signed at ${momentText(atNs)}`}</p>
${menuView('travel', 'Go to time', menu)}<button type="button" id="time-now" ?hidden=${atNs === undefined} @click=${() => travel.change({ at: undefined }, 'click')}>Now</button></div>`;
}

function menuView(id: string, name: string, content: View): View {
  return html`<details class="menu" id=${id} @focusout=${closeMenu} @keydown=${closeMenu}><summary>${name} <span aria-hidden="true">▾</span></summary>${content}</details>`;
}
