/** What nodes say of themselves. */
export const NODE_TOPIC = 'node';
/** Live prices, from the leader. */
export const TICK_TOPIC = 'tick';

/** All live prices of the leader of an epoch, or what its streaming IDs mean: a query for names says from which ID on. */
export function fullTopic(epoch: number): string {
  return `full.${epoch}`;
}

/** Messages of publishers, for the leader of an epoch: one that was deposed is not asked. */
export function submitTopic(epoch: number): string {
  return `in.${epoch}`;
}
