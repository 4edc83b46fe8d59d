import type { OperatorVote } from '../quorum/quorum_tick.js';

const SVG = 'http://www.w3.org/2000/svg';
/** The length of an operator's part of the ring, and the gap after it. */
const PART = 10;
const GAP = 2;

/** Draws the ring: one part for each operator, in the order of the link. @param count the number of operators */
export function quorumRing(votes: readonly OperatorVote[], count: number): SVGSVGElement {
  const ring = document.createElementNS(SVG, 'svg');
  ring.setAttribute('viewBox', '0 0 24 24');
  ring.setAttribute('class', 'quorum-ring');
  ring.setAttribute('aria-hidden', 'true');
  const length = count * PART;
  for (let i = 0; i < count; i += 1) {
    const part = document.createElementNS(SVG, 'circle');
    const entries = {
      cx: 12,
      cy: 12,
      r: 9,
      pathLength: length,
      'stroke-dasharray': `${PART - GAP} ${length - PART + GAP}`,
      'stroke-dashoffset': -i * PART,
      transform: 'rotate(-90 12 12)',
    };
    for (const [name, value] of Object.entries(entries)) part.setAttribute(name, String(value));
    part.dataset['verdict'] = votes[i]?.verdict ?? 'silent';
    ring.append(part);
  }
  return ring;
}
