import { threeDigits } from '../../scripts/load/statistics.js';
import type { KindFigures, LoadFigures, LoadResult } from './load_run.js';
import type { LoadBounds } from './options.js';

const MIB = 2 ** 20;

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
  const delays = ({ p50Ms, p99Ms, maxMs }: KindFigures) =>
    `p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}, max ${ms(maxMs)}`;
  const { frames, bytes, gaps, closed, cpuSeconds, seconds } = kinds.readers;
  const lines = [
    `${readers} readers: ${threeDigits(frames / seconds)} frames and ${threeDigits(bytes / seconds / MIB)} MiB a second; delay ${delays(kinds.readers)}`,
    `gaps ${gaps}, ended connections ${closed}; the readers received ${threeDigits(frames / cpuSeconds)} frames for each second of their CPU time`,
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

/** Returns a sentence for each bound that the result breaks. A bound without measured values counts as broken. */
export function brokenBounds({ total, refusal }: LoadResult, bounds: LoadBounds): string[] {
  const { readers, publisher, requests } = total.kinds;
  const broken: string[] = [];
  const checkMs = (name: string, ms: number | undefined, bound: number | undefined) => {
    if (bound === undefined) return;
    if (ms === undefined) broken.push(`${name}: nothing was measured`);
    else if (ms > bound) broken.push(`${name}: ${ms} ms, at most ${bound} ms`);
  };
  checkMs('p99 of frames', readers.p99Ms, bounds.maxP99);
  checkMs('p99 of own updates', publisher.p99Ms, bounds.maxOwnP99);
  checkMs('p99 of REST answers', requests.p99Ms, bounds.maxRestP99);
  if (bounds.maxGaps !== undefined && readers.gaps > bounds.maxGaps)
    broken.push(`gaps: ${readers.gaps}, at most ${bounds.maxGaps}`);
  if (readers.frames === 0) broken.push('no reader received a frame');
  if (publisher.refused > 0)
    broken.push(
      `updates that the service refused: ${publisher.refused} of ${publisher.sent}, the first with ${refusal}`,
    );
  const checkNone = (name: string, count: number, sent: number) => {
    if (count > 0) broken.push(`${name}: ${count} of ${sent}`);
  };
  checkNone('updates that no frame showed within 10 s', publisher.lost, publisher.sent);
  checkNone('requests without an answer within 10 s', requests.lost, requests.sent);
  checkNone('requests that failed', requests.refused, requests.sent);
  if (readers.closed + publisher.closed > 0)
    broken.push(`connections that the service ended: ${readers.closed + publisher.closed}`);
  return broken;
}
