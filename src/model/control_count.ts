/**
 * The control messages, pings and pongs of one connection in one second. Sessions have these fields directly, because there are tens of
 * thousands of sessions.
 */
export interface ControlCount {
  /** The number of messages left in the second; below 0 after the limit. */
  controlMessagesLeft: number;
  controlSecond: number;
}

/**
 * Counts one message.
 * @returns the number of messages left in the UNIX second; below 0 after the limit
 */
export function countControl(count: ControlCount, perSecondMax: number, second: number): number {
  if (second !== count.controlSecond) {
    count.controlSecond = second;
    count.controlMessagesLeft = perSecondMax;
  }
  count.controlMessagesLeft -= 1;
  return count.controlMessagesLeft;
}

/**
 * The cost of a connection that was closed for too many control messages, as a multiple of `control_messages_per_second`. The token or key
 * pays this cost, and must have this amount left to open its next connection. So a caller that sends too much on each connection can open
 * only a few connections.
 */
export const CLOSED_CONTROL_COST = 10;
