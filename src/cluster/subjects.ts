/** The topic of the nodes' reports. */
export const NODE_TOPIC = 'node';
/** The topic of the leader's live prices. */
export const TICK_TOPIC = 'tick';

/**
 * Returns the topic of two requests to the leader of an epoch: for all live prices, and for the meaning of its streaming IDs. A
 * request with bytes is a query for the meaning and contains the first ID.
 */
export function fullTopic(epoch: number): string {
  return `full.${epoch}`;
}

/** Returns the topic of publishers' messages to the leader of an epoch. So a deposed leader receives no messages. */
export function submitTopic(epoch: number): string {
  return `in.${epoch}`;
}
