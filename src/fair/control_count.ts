/** The control messages, pings and pongs of one connection in one second. Sessions have these fields: there are tens of thousands. */
export interface ControlCount {
  /** The number left in the second; below 0 past the limit. */
  controlMessagesLeft: number;
  controlSecond: number;
}

/** Counts one. @returns the number left in the UNIX second; below 0 past the limit */
export function countControl(count: ControlCount, perSecondMax: number, second: number): number {
  if (second !== count.controlSecond) {
    count.controlSecond = second;
    count.controlMessagesLeft = perSecondMax;
  }
  count.controlMessagesLeft -= 1;
  return count.controlMessagesLeft;
}

/**
 * The factor of `control_messages_per_second` that closing a connection past that limit costs its token or key, and that must be
 * left before the next connection: a caller that sends too much on each connection may open few.
 */
export const CLOSED_CONTROL_COST = 10;
