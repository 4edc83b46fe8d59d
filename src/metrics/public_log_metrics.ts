import type { ServiceState } from './state.js';
import type { MetricRow } from './text_format.js';

/** The metrics of the public log. A process without a public log has none of these metrics. */
export const PUBLIC_LOG_METRICS: readonly MetricRow<{ readonly state: ServiceState }>[] = [
  {
    name: 'tickseal_tlog_size',
    type: 'gauge',
    help: 'Batches in the public log.',
    read: ({ state }) => state.publicLog?.size,
  },
  {
    name: 'tickseal_tlog_checkpoint_age_seconds',
    type: 'gauge',
    help: 'The time since a checkpoint was last published.',
    read: ({ state }) => state.publicLog?.checkpointAgeSeconds,
  },
  {
    name: 'tickseal_tlog_max_delay_seconds',
    type: 'gauge',
    help: 'The longest time until a checkpoint covers a price, as readers are promised.',
    read: ({ state }) => state.publicLog?.maxDelaySeconds,
  },
  {
    name: 'tickseal_tlog_witnesses',
    type: 'gauge',
    help: 'Witnesses that cosigned the published checkpoint.',
    read: ({ state }) => state.publicLog?.witnesses,
  },
  {
    name: 'tickseal_tlog_quorum',
    type: 'gauge',
    help: '0 when no checkpoint had the quorum of the witnesses for the whole grace, else 1.',
    read: ({ state }) => state.publicLog && Number(state.publicLog.hasQuorum),
  },
  {
    name: 'tickseal_tlog_stopped',
    type: 'gauge',
    help: '1 when the public log has stopped for good, else 0.',
    read: ({ state }) => state.publicLog && Number(state.publicLog.isStopped),
  },
];
