import type { MetricRow } from '../../model/text_format.js';
import type { PublicLogState, ServiceState } from './state.js';

const LABELS = ['log'];

/** The metrics of the public logs. The log of prices has no label. A process without a public log has none of these metrics. */
export const PUBLIC_LOG_METRICS: readonly MetricRow<{ readonly state: ServiceState }>[] = [
  {
    name: 'tickseal_tlog_size',
    type: 'gauge',
    help: 'Batches in the public log.',
    labels: LABELS,
    read: ({ state }) => ofLogs(state, ({ size }) => size),
  },
  {
    name: 'tickseal_tlog_checkpoint_age_seconds',
    type: 'gauge',
    help: 'The time since a checkpoint was last published.',
    labels: LABELS,
    read: ({ state }) => ofLogs(state, ({ checkpointAgeSeconds }) => checkpointAgeSeconds),
  },
  {
    name: 'tickseal_tlog_max_delay_seconds',
    type: 'gauge',
    help: 'The longest time until a checkpoint covers a signature, as readers are promised.',
    labels: LABELS,
    read: ({ state }) => ofLogs(state, ({ maxDelaySeconds }) => maxDelaySeconds),
  },
  {
    name: 'tickseal_tlog_witnesses',
    type: 'gauge',
    help: 'Witnesses that cosigned the published checkpoint.',
    labels: LABELS,
    read: ({ state }) => ofLogs(state, ({ witnesses }) => witnesses),
  },
  {
    name: 'tickseal_tlog_quorum',
    type: 'gauge',
    help: '0 when no checkpoint had the quorum of the witnesses for the whole grace, else 1.',
    labels: LABELS,
    read: ({ state }) => ofLogs(state, ({ hasQuorum }) => Number(hasQuorum)),
  },
  {
    name: 'tickseal_tlog_stopped',
    type: 'gauge',
    help: '1 when the public log has stopped for good, else 0.',
    labels: LABELS,
    read: ({ state }) => ofLogs(state, ({ isStopped }) => Number(isStopped)),
  },
];

/** Returns a value of each log of this process; `undefined` without a log. */
function ofLogs(
  { publicLog, streamLog }: ServiceState,
  figure: (log: PublicLogState) => number | undefined,
): [string, number | undefined][] | undefined {
  const series: [string, number | undefined][] = [];
  if (publicLog !== undefined) series.push(['', figure(publicLog)]);
  if (streamLog !== undefined) series.push(['streams', figure(streamLog)]);
  return series.some(([, value]) => value !== undefined) ? series : undefined;
}
