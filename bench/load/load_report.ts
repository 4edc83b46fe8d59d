import { threeDigits } from '../../scripts/load/statistics.js';
import type { LoadFigures, LoadResult } from './load_run.js';

const MIB = 2 ** 20;
/** Colours that colour-blind readers can distinguish (Okabe and Ito). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7'];

/** The column headers of the live table. Each row of the table has the figures of a second. */
export const HEAD = ['s', 'frames/s', 'p50 ms', 'p99 ms', 'gaps', 'own p99', 'REST p99', 'cores', 'MiB'];

export function rowOf({ atSeconds, kinds, server }: LoadFigures): string[] {
  const { readers, publisher, requests } = kinds;
  const value = (number: number | undefined) => (number === undefined ? '–' : threeDigits(number));
  return [
    atSeconds.toFixed(0),
    value(readers.frames / readers.seconds),
    value(readers.p50Ms),
    value(readers.p99Ms),
    String(readers.gaps),
    value(publisher.p99Ms),
    value(requests.p99Ms),
    value(server?.cores),
    value(server && server.residentBytes / MIB),
  ];
}

/** Returns the figures of a whole run, one figure on each line. */
export function summaryOf({ total, readers, updatesPerSecond, requestsPerSecond }: LoadResult): string[] {
  const { kinds, server } = total;
  const ms = (value: number | undefined) => (value === undefined ? '–' : `${threeDigits(value)} ms`);
  const delays = ({ p50Ms, p99Ms, maxMs }: LoadFigures['kinds']['readers']) =>
    `p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}, max ${ms(maxMs)}`;
  const { frames, bytes, gaps, different, closed, cpuSeconds, seconds } = kinds.readers;
  const lines = [
    `${readers} readers: ${threeDigits(frames / seconds)} frames and ${threeDigits(bytes / seconds / MIB)} MiB a second; delay ${delays(kinds.readers)}`,
    `gaps ${gaps}, different frames ${different}, ended connections ${closed}; the readers received ${threeDigits(frames / cpuSeconds)} frames for each second of their CPU time`,
  ];
  const { publisher, requests } = kinds;
  if (updatesPerSecond > 0)
    lines.push(
      `${updatesPerSecond} updates a second: ${publisher.sent} sent, ${publisher.done} seen, ${publisher.refused} refused, ${publisher.lost} lost; update to frame ${delays(publisher)}`,
    );
  if (requestsPerSecond > 0)
    lines.push(
      `${requestsPerSecond} requests a second: ${requests.sent} sent, ${requests.done} answered, ${requests.refused} failed, ${requests.lost} lost; ${delays(requests)}`,
    );
  if (server !== undefined)
    lines.push(
      `service: ${threeDigits(server.cores)} cores, ${threeDigits(server.residentBytes / MIB)} MiB resident`,
    );
  return lines;
}

interface Curve {
  readonly name: string;
  readonly read: (figures: LoadFigures) => number | undefined;
}

const CHARTS: readonly { readonly title: string; readonly curves: readonly Curve[] }[] = [
  {
    title: 'Delay of frames in ms',
    curves: [
      { name: 'p99', read: ({ kinds }) => kinds.readers.p99Ms },
      { name: 'p50', read: ({ kinds }) => kinds.readers.p50Ms },
    ],
  },
  {
    title: 'Delay of own updates and of REST answers in ms, p99',
    curves: [
      { name: 'updates', read: ({ kinds }) => kinds.publisher.p99Ms },
      { name: 'REST', read: ({ kinds }) => kinds.requests.p99Ms },
    ],
  },
  {
    title: 'Frames a second',
    curves: [{ name: 'frames', read: ({ kinds }) => kinds.readers.frames / kinds.readers.seconds }],
  },
  { title: "The service's cores", curves: [{ name: 'cores', read: ({ server }) => server?.cores }] },
  {
    title: "The service's resident memory in MiB",
    curves: [{ name: 'MiB', read: ({ server }) => server && server.residentBytes / MIB }],
  },
];

/** Returns a page with the figures and a chart of each second. The page loads nothing. */
export function pageOf(result: LoadResult, title: string, broken: readonly string[]): string {
  const charts = CHARTS.map(({ title, curves }) => chartOf(title, curves, result.seconds)).filter(
    (svg) => svg !== '',
  );
  const list = (items: readonly string[]) =>
    `<ul>${items.map((item) => `<li>${escapeXml(item)}</li>`).join('')}</ul>`;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${escapeXml(title)}</title>
<style>body{font:15px/1.5 sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}svg{display:block;margin:1rem 0}</style>
<h1>${escapeXml(title)}</h1>
${list(summaryOf(result))}
<h2>${broken.length === 0 ? 'All bounds hold' : 'Broken bounds'}</h2>${list(broken)}
${charts.join('\n')}
</html>
`;
}

const WIDTH = 640;
const HEIGHT = 200;
const LEFT = 60;
const BOTTOM = 24;
const TOP = 32;

function chartOf(title: string, curves: readonly Curve[], seconds: readonly LoadFigures[]): string {
  const known = curves
    .map(({ name, read }) => ({
      name,
      points: seconds.flatMap((figures) => {
        const value = read(figures);
        return value === undefined ? [] : [{ at: figures.atSeconds, value }];
      }),
    }))
    .filter(({ points }) => points.length > 0);
  if (known.length === 0) return '';
  const all = known.flatMap(({ points }) => points);
  const highest = Math.max(...all.map(({ value }) => value)) || 1;
  const last = Math.max(...all.map(({ at }) => at)) || 1;
  const x = (at: number) => Math.round(LEFT + (at / last) * (WIDTH - LEFT - 10));
  const y = (value: number) => Math.round(HEIGHT - BOTTOM - (value / highest) * (HEIGHT - BOTTOM - TOP));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" font-family="sans-serif" font-size="12">`,
    `<title>${escapeXml(title)}</title>`,
    text(LEFT, 16, title, 'start', 'font-size="14"'),
    ...[0, highest / 2, highest].flatMap((value) => [
      `<path d="M${LEFT} ${y(value)}H${WIDTH - 10}" stroke="#ddd"/>`,
      text(LEFT - 6, y(value) + 4, threeDigits(value), 'end'),
    ]),
    text(WIDTH - 10, HEIGHT - 6, `${last.toFixed(0)} s`, 'end'),
    ...known.flatMap(({ name, points }, i) => [
      `<polyline points="${points.map(({ at, value }) => `${x(at)},${y(value)}`).join(' ')}" fill="none" stroke="${COLOURS[i]}" stroke-width="2"/>`,
      text(WIDTH - 10 - 80 * i, 16, name, 'end', `fill="${COLOURS[i]}"`),
    ]),
    '</svg>',
  ].join('\n');
}

/** Returns a line of text. `anchor` is the `text-anchor` of SVG, and `more` contains additional attributes. */
function text(x: number, y: number, words: string, anchor: 'start' | 'middle' | 'end', more = ''): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" ${more}>${escapeXml(words)}</text>`;
}

function escapeXml(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
