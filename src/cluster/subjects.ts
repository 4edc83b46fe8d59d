/** The topic of the reports of nodes. */
export const NODE_TOPIC = 'node';
/** The topic of live prices, from the leader. */
export const TICK_TOPIC = 'tick';

/**
 * Returns the topic of requests for all live prices of the leader of an epoch, or for the meaning of its streaming IDs: a query
 * for names has the first ID.
 */
export function fullTopic(epoch: number): string {
  return `full.${epoch}`;
}

/** Returns the topic of publishers' messages for the leader of an epoch: a deposed leader receives no requests. */
export function submitTopic(epoch: number): string {
  return `in.${epoch}`;
}
