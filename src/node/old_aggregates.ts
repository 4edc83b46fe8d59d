import type { FeedSource } from '../feed/feed_source.js';
import { NS_PER_SECOND, type TimeNs } from '../model/time.js';
import { endOf } from '../records/next_holding.js';

/** How much later than by its own clock a node takes an aggregate for too old, while there is a leader to say so. */
const SLACK_NS = 2n * NS_PER_SECOND;

/**
 * Serves no more the aggregates whose inputs are too old. Whoever leads ends them itself, but not those of an asset that it does not
 * know, nor while the log does not take it.
 * @param isSilent no leader is heard
 */
export function withdrawOld(source: Pick<FeedSource, 'withdraw'>, nowNs: TimeNs, isSilent: boolean): void {
  const pastNs = (isSilent ? nowNs : nowNs - SLACK_NS) as TimeNs;
  source.withdraw(
    isSilent ? 'all' : 'without a price',
    pastNs,
    (asset, aggregate) => endOf(aggregate, asset, nowNs) < pastNs,
  );
}
