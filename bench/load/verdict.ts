import type { LoadResult } from './load_run.js';
import type { LoadBounds } from './options.js';

/** Returns a sentence for each bound that the result breaks. A bound without measured values counts as broken. */
export function brokenBounds({ total, refusal }: LoadResult, bounds: LoadBounds): string[] {
  const { readers, publisher, requests } = total.kinds;
  const broken: string[] = [];
  const checkMs = (name: string, ms: number | undefined, bound: number | undefined) => {
    if (bound === undefined) return;
    if (ms === undefined) broken.push(`${name}: nothing was measured`);
    else if (ms > bound) broken.push(`${name}: ${ms} ms, at most ${bound} ms`);
  };
  checkMs('p99 of frames', readers.p99Ms, bounds.p99Ms);
  checkMs('p99 of own updates', publisher.p99Ms, bounds.ownP99Ms);
  checkMs('p99 of REST answers', requests.p99Ms, bounds.restP99Ms);
  if (bounds.gaps !== undefined && readers.gaps > bounds.gaps)
    broken.push(`gaps: ${readers.gaps}, at most ${bounds.gaps}`);
  if (readers.frames === 0) broken.push('no reader received a frame');
  if (publisher.refused > 0)
    broken.push(
      `updates that the service refused: ${publisher.refused} of ${publisher.sent}, the first with ${refusal}`,
    );
  if (publisher.lost > 0)
    broken.push(`updates that no frame showed within 10 s: ${publisher.lost} of ${publisher.sent}`);
  if (requests.lost > 0)
    broken.push(`requests without an answer within 10 s: ${requests.lost} of ${requests.sent}`);
  if (requests.refused > 0) broken.push(`requests that failed: ${requests.refused} of ${requests.sent}`);
  if (readers.different > 0)
    broken.push(`frames that differ from frames of the same time: ${readers.different}`);
  if (readers.closed + publisher.closed > 0)
    broken.push(`connections that the service ended: ${readers.closed + publisher.closed}`);
  return broken;
}
