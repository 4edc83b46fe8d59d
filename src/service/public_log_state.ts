import type { OpenLog } from '../cluster/node/public_log.js';
import type { PublicLogState } from './metrics/state.js';

/** Returns the state of a public log for the metrics. */
export function publicLogState(
  log: Pick<OpenLog, 'facts' | 'figures'> | undefined,
): PublicLogState | undefined {
  if (log?.facts === undefined) return undefined;
  const { size, checkpointAgeMs, ...figures } = log.figures();
  return {
    ...figures,
    size: Number(size),
    checkpointAgeSeconds: checkpointAgeMs && checkpointAgeMs / 1_000,
    maxDelaySeconds: log.facts.maxDelayS,
  };
}
