import type { FeedSource } from '../../log/feed/feed_source.js';
import { endOf } from '../../log/records/next_holding.js';
import { NS_PER_SECOND, type TimeNs } from '../../model/time.js';

/** The additional age of an aggregate before this node itself stops serving it. Until then, the leader can end it. */
const SLACK_NS = 2n * NS_PER_SECOND;

/**
 * Stops serving aggregates whose inputs are too old. Normally the leader ends them. But the leader does not know all assets of this node,
 * and can end nothing while the log accepts no writes.
 * @param isSilent true when no message from a leader arrives
 */
export function withdrawOld(source: Pick<FeedSource, 'withdraw'>, nowNs: TimeNs, isSilent: boolean): void {
  const pastNs = (isSilent ? nowNs : nowNs - SLACK_NS) as TimeNs;
  source.withdraw(
    isSilent ? 'all' : 'without a price',
    pastNs,
    (asset, aggregate) => endOf(aggregate, asset, nowNs) < pastNs,
  );
}

/**
 * Stops serving aggregates whose inputs are too old and that should have been replaced: while the disk is full, prices continue, but no
 * aggregate is signed.
 */
export function withdrawUnreplaced(source: Pick<FeedSource, 'withdraw'>, nowNs: TimeNs): void {
  const pastNs = (nowNs - SLACK_NS) as TimeNs;
  source.withdraw(
    'all',
    pastNs,
    (asset, aggregate) =>
      aggregate.signedAtNs + asset.clockPeriodNs < pastNs && endOf(aggregate, asset, nowNs) < pastNs,
  );
}
