import type { SegmentPosition } from '../log/store/store_options.js';

/** The number of waiting segments from which the operator is warned. One waits for a moment whenever a segment ends. */
const WAITING_WARNED = 3;

/** Returns the position of the log, and the number of finished segments that its followers on disk have not taken, as `/readyz` shows them. */
export function logPosition({ segment, segmentsWaiting }: SegmentPosition): object {
  return { segment, segments_waiting: segmentsWaiting };
}

/** Returns a warning when the followers on disk are far behind the log. */
export function backlogWarnings({ segmentsWaiting }: Pick<SegmentPosition, 'segmentsWaiting'>): string[] {
  if (segmentsWaiting < WAITING_WARNED) return [];
  return [
    `${segmentsWaiting} segments of the log are not in the past, the candles and the snapshot yet: the disk fails or is too slow, as the log of the service says, and a start must read them all`,
  ];
}
