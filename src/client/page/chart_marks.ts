import type {
  IPrimitivePaneView,
  ISeriesApi,
  ISeriesPrimitive,
  SeriesAttachedParameter,
  Time,
} from 'lightweight-charts';
import type { ChartCandle, ChartGap } from './chart_candles.js';

/** The length of the line between an extreme price and its text, and the distance of the text from the candle, in pixels. */
const LINE_PX = 14;
const TEXT_PX = 7;

/** The drawn facts, and how to draw them. */
export interface MarkedBars {
  readonly bars: readonly (ChartCandle | ChartGap)[];
  /** Writes a price as the axis does. */
  readonly format: (price: number) => string;
  readonly font: string;
  readonly textColour: string;
}

/** Marks the highest and the lowest price of the visible candles. The library's own plugin for marks would take 3 kB. */
export class ChartMarks implements ISeriesPrimitive<Time> {
  readonly #facts: () => MarkedBars;
  #attached: SeriesAttachedParameter<Time> | undefined;
  readonly #views: readonly IPrimitivePaneView[] = [
    {
      renderer: () => ({
        draw: (target) =>
          target.useMediaCoordinateSpace(({ context, mediaSize }) => this.#draw(context, mediaSize.width)),
      }),
    },
  ];

  constructor(facts: () => MarkedBars) {
    this.#facts = facts;
  }

  attached(parameter: SeriesAttachedParameter<Time>): void {
    this.#attached = parameter;
  }

  paneViews(): readonly IPrimitivePaneView[] {
    return this.#views;
  }

  #draw(context: CanvasRenderingContext2D, width: number): void {
    const { bars, format, font, textColour } = this.#facts();
    const scale = this.#attached?.chart.timeScale();
    const range = scale?.getVisibleLogicalRange();
    if (scale === undefined || range == null) return;
    const visible = bars
      .slice(Math.max(Math.floor(range.from), 0), Math.ceil(range.to) + 1)
      .filter((bar) => 'close' in bar);
    if (visible.length < 2) return;
    const highest = visible.reduce((best, bar) => (bar.high > best.high ? bar : best));
    const lowest = visible.reduce((best, bar) => (bar.low < best.low ? bar : best));
    context.font = font;
    context.textBaseline = 'middle';
    context.fillStyle = context.strokeStyle = textColour;
    for (const [{ time }, price, away] of [
      [highest, highest.high, -TEXT_PX],
      [lowest, lowest.low, TEXT_PX],
    ] as const) {
      const x = scale.timeToCoordinate(time as Time);
      const y = (this.#attached!.series as ISeriesApi<'Candlestick'>).priceToCoordinate(price);
      if (x === null || y === null) continue;
      const side = x > width / 2 ? -1 : 1;
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(x + side * LINE_PX, y + away);
      context.stroke();
      context.textAlign = side > 0 ? 'left' : 'right';
      context.fillText(format(price), x + side * (LINE_PX + 2), y + away);
    }
  }
}
