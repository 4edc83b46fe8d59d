import type { IPrimitivePaneView, ISeriesPrimitive, SeriesAttachedParameter, Time } from 'lightweight-charts';
import type { GapMark } from './unfilled_gaps.js';

/** The length of the dashes and of the spaces between them, in pixels. */
const DASH = [2, 3];

/** Dashed vertical lines at candles that may lack prices. The library's own plugin for marks would take 3 kB. */
export class GapLines implements ISeriesPrimitive<Time> {
  #marks: readonly GapMark[] = [];
  #colour = '';
  #chart: SeriesAttachedParameter<Time> | undefined;
  readonly #views: readonly IPrimitivePaneView[] = [
    {
      renderer: () => ({
        draw: (target) =>
          target.useMediaCoordinateSpace(({ context, mediaSize }) => {
            context.strokeStyle = this.#colour;
            context.setLineDash(DASH);
            context.beginPath();
            for (const { time } of this.#marks) {
              const x = this.#chart?.chart.timeScale().timeToCoordinate(time as Time);
              if (x === undefined || x === null) continue;
              context.moveTo(x, 0);
              context.lineTo(x, mediaSize.height);
            }
            context.stroke();
          }),
      }),
    },
  ];

  attached(chart: SeriesAttachedParameter<Time>): void {
    this.#chart = chart;
  }

  paneViews(): readonly IPrimitivePaneView[] {
    return this.#views;
  }

  show(marks: readonly GapMark[], colour: string): void {
    this.#marks = marks;
    this.#colour = colour;
    this.#chart?.requestUpdate();
  }

  /** Returns the text of the mark at a candle. */
  textAt(time: unknown): string {
    return this.#marks.find((mark) => mark.time === time)?.text ?? '';
  }

  /** Describes the marks for a reader who cannot see them. */
  get texts(): string {
    return this.#marks.map(({ text }) => `; ${text.replaceAll('\n', ', ')}`).join('');
  }
}
