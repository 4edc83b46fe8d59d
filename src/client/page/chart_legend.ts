import { html, nothing } from 'lit-html';
import type { ChartCandle } from './answers.js';
import type { View } from './parts.js';
import { changeSteps, changeText } from './price_text.js';

export interface LegendFacts {
  /** The candle under the cross-hair, or the last candle. */
  readonly candle: ChartCandle | undefined;
  /** Writes a price as the axis does. */
  readonly format: (price: number) => string;
  /** The symbol of the compared asset. */
  readonly compared: string | undefined;
  readonly onUncompare: () => void;
}

/** Draws the prices of a candle with its change, and a chip for the compared asset. */
export function legendView({ candle, format, compared, onUncompare }: LegendFacts): View {
  const moved = candle === undefined || candle.open === 0 ? 0 : candle.close / candle.open - 1;
  const prices =
    candle === undefined
      ? nothing
      : html`<p class="number">${(['open', 'high', 'low', 'close'] as const).map((name) => html`<small>${name[0]!.toUpperCase()}</small> ${format(candle[name])} `)}<span data-direction=${Math.sign(changeSteps(moved))}>${changeText(moved)}</span></p>`;
  const chip =
    compared === undefined
      ? nothing
      : html`<p class="legend-chip"><i class="dot"></i>${compared} <button type="button" aria-label="End the comparison with ${compared}" @click=${onUncompare}>×</button></p>`;
  return html`${prices}${chip}`;
}
