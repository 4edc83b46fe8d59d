import { threeDigits } from '../../scripts/load/statistics.js';

/** A plot on two logarithmic axes. All values are above 0. */
export interface LogPlot {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly curves: readonly { readonly name: string; readonly points: readonly Point[] }[];
}

interface Point {
  readonly x: number;
  readonly y: number;
}

const WIDTH = 640;
const HEIGHT = 400;
const LEFT = 80;
const RIGHT = 20;
const TOP = 40;
const BOTTOM = 56;
/** Colours that colour-blind readers can distinguish (Okabe and Ito). */
export const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7'];

/** Draws the curves, with decades as grid lines and the value of each point. */
export function logPlotSvg({ title, xLabel, yLabel, curves }: LogPlot): string {
  const points = curves.flatMap((curve) => curve.points);
  const x = logAxis(
    points.map((point) => point.x),
    LEFT,
    WIDTH - RIGHT,
  );
  const y = logAxis(
    points.map((point) => point.y),
    HEIGHT - BOTTOM,
    TOP,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    text(WIDTH / 2, 20, title, 'middle', 'font-size="14"'),
    ...x.decades.flatMap((value) => [
      `<path d="M${at(x, value)} ${TOP}V${HEIGHT - BOTTOM}" stroke="#ddd"/>`,
      text(at(x, value), HEIGHT - BOTTOM + 18, threeDigits(value), 'middle'),
    ]),
    ...y.decades.flatMap((value) => [
      `<path d="M${LEFT} ${at(y, value)}H${WIDTH - RIGHT}" stroke="#ddd"/>`,
      text(LEFT - 8, at(y, value) + 4, threeDigits(value), 'end'),
    ]),
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, xLabel, 'middle'),
    text(
      16,
      (TOP + HEIGHT - BOTTOM) / 2,
      yLabel,
      'middle',
      `transform="rotate(-90 16 ${(TOP + HEIGHT - BOTTOM) / 2})"`,
    ),
    ...curves.flatMap((curve, i) => {
      const colour = COLOURS[i % COLOURS.length]!;
      const places = curve.points.map((point) => `${at(x, point.x)} ${at(y, point.y)}`);
      return [
        `<path d="M${places.join('L')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        ...curve.points.flatMap((point) => [
          `<circle cx="${at(x, point.x)}" cy="${at(y, point.y)}" r="3" fill="${colour}"/>`,
          text(at(x, point.x), at(y, point.y) - 8, threeDigits(point.y), 'middle', `fill="${colour}"`),
        ]),
        text(LEFT + 12, TOP + 16 + 16 * i, curve.name, 'start', `fill="${colour}"`),
      ];
    }),
    '</svg>',
    '',
  ].join('\n');
}

interface LogAxis {
  readonly low: number;
  readonly high: number;
  readonly from: number;
  readonly to: number;
  /** The powers of ten from one end of the axis to the other end. */
  readonly decades: readonly number[];
}

/**
 * Makes an axis. The axis begins at the power of ten at or below the smallest value, and ends at the power of ten at
 * or above the largest value.
 */
function logAxis(values: readonly number[], from: number, to: number): LogAxis {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const decades = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
  return { low, high, from, to, decades };
}

function at({ low, high, from, to }: LogAxis, value: number): number {
  return Math.round(from + ((Math.log10(value) - low) / (high - low)) * (to - from));
}

/** Returns a line of text. `anchor` is the `text-anchor` of SVG, and `more` contains additional attributes. */
export function text(
  x: number,
  y: number,
  words: string,
  anchor: 'start' | 'middle' | 'end',
  more = '',
): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" ${more}>${escapeXml(words)}</text>`;
}

export function escapeXml(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
