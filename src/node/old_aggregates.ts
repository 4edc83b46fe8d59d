import type { FeedSource } from '../feed/feed_source.js';
import { NS_PER_SECOND, type TimeNs } from '../model/time.js';
import { endOf } from '../records/next_holding.js';

/** The additional age of an aggregate before the node itself stops serving the aggregate. Until then, the leader can end the aggregate. */
const SLACK_NS = 2n * NS_PER_SECOND;

/**
 * Stops serving aggregates whose inputs are too old. Normally the leader ends such aggregates. But the leader does not end aggregates
 * of assets that are unknown to the leader, and cannot end aggregates while the log accepts no writes.
 * @param isSilent true when no message of a leader arrives
 */
export function withdrawOld(source: Pick<FeedSource, 'withdraw'>, nowNs: TimeNs, isSilent: boolean): void {
  const pastNs = (isSilent ? nowNs : nowNs - SLACK_NS) as TimeNs;
  source.withdraw(
    isSilent ? 'all' : 'without a price',
    pastNs,
    (asset, aggregate) => endOf(aggregate, asset, nowNs) < pastNs,
  );
}
