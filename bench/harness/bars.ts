import { threeDigits } from '../../scripts/load/statistics.js';
import { isCost, type LineOutcome, type RowOutcome } from './outcome.js';
import { COLOURS, escapeXml, text } from './svg.js';

/** The folder of all charts, relative to the folder of the results. */
export const CHARTS = 'charts';

const WIDTH = 760;
const TOP = 64;
/** The horizontal position at which bars start. The next constant is the length of the longest bar of a line. */
const LEFT = 270;
const LENGTH = 300;
const BAR = 18;
const BETWEEN_LINES = 40;
const OURS = COLOURS[0]!;
const PEER = '#b3b3b3';
const NEEDED = COLOURS[1]!;

interface Bar {
  readonly name: string;
  readonly value: number;
  readonly colour: string;
  /** The ratio of our value to the value of this bar, shown after the value. */
  readonly ratio?: number;
}

/** Returns the chart file of a row, relative to the folder of the results. */
export function barsFile(row: string): string {
  return `${CHARTS}/${row}.svg`;
}

/**
 * Draws the medians of a row as bars. Each line of the row has our bar and the bars of the peers. The longest bar of each line
 * has the full length, because the units of lines differ. A mark on our bar shows the limit.
 */
export function barsSvg(row: RowOutcome): string {
  const parts: string[] = [];
  let y = TOP;
  for (const line of row.lines) {
    const bars = barsOf(line);
    const most = Math.max(...bars.map(({ value }) => value), neededOf(line) ?? 0);
    const lengthOf = (value: number) => Math.max(1, Math.round((LENGTH * value) / most));
    parts.push(
      text(
        12,
        y,
        `${line.name}, ${line.unit}${isCost(line) ? ' (less is better)' : ''}`,
        'start',
        'font-weight="bold"',
      ),
    );
    y += 8;
    for (const { name, value, colour, ratio } of bars) {
      const end = LEFT + lengthOf(value);
      parts.push(
        text(LEFT - 8, y + 13, name, 'end'),
        `<rect x="${LEFT}" y="${y + 1}" width="${end - LEFT}" height="${BAR - 4}" fill="${colour}"/>`,
        text(
          end + 6,
          y + 13,
          threeDigits(value) +
            (ratio === undefined
              ? ''
              : ` — ${line.of === undefined ? 'ours' : 'it'} is ${threeDigits(ratio)} ×`),
          'start',
        ),
      );
      y += BAR;
    }
    const needed = neededOf(line);
    if (needed !== undefined)
      parts.push(
        `<path d="M${LEFT + lengthOf(needed)} ${y - bars.length * BAR - 1}v${BAR}" stroke="${NEEDED}" stroke-width="3"/>`,
      );
    y += BETWEEN_LINES - BAR;
  }
  const height = y;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    `<title>${escapeXml(row.title)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    text(12, 22, row.title, 'start', 'font-size="14"'),
    text(
      12,
      40,
      'blue: tickseal; grey: what it is compared with; orange mark: what tickseal must reach',
      'start',
      'fill="#555"',
    ),
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

function barsOf(line: LineOutcome): Bar[] {
  return [
    { name: line.of ?? 'tickseal', value: line.ours, colour: line.of === undefined ? OURS : PEER },
    ...line.peers.map(({ name, value, ratio }) => ({ name, value, ratio, colour: PEER })),
  ];
}

/** Returns the strictest limit of a line as a value for our bar; `undefined` if the line has no such limit. */
function neededOf(line: LineOutcome): number | undefined {
  const needed = [
    ...limitsOf(line.bound),
    ...line.peers.flatMap(({ bound, value }) => limitsOf(bound).map((limit) => limit * value)),
  ];
  if (needed.length === 0) return undefined;
  return isCost(line) ? Math.min(...needed) : Math.max(...needed);
}

function limitsOf(bound: LineOutcome['bound']): number[] {
  if (bound === undefined || 'within' in bound) return [];
  return ['atLeast' in bound ? bound.atLeast : bound.atMost];
}
