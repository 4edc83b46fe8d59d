import { metricText } from './text_format.js';

/** What a node of a cluster says of itself at the moment of a scrape. */
export interface ClusterState {
  readonly role: 'leader' | 'standby' | 'edge';
  /** Of the newest claim that it has applied. */
  readonly epoch: number;
  /** Records that the log is known to have and that the node has not applied. */
  readonly logLagRecords: number;
  /** For how long it has not applied one while there were some; else 0. */
  readonly logLagSeconds: number;
  /** For how long no tick came, where the node does not lead. */
  readonly ticksSilentSeconds: number;
  readonly tickGaps: number;
  readonly refusedWrites: number;
  /** Standbys that report themselves, this node included. */
  readonly standbys: number;
  /** Nodes that report themselves, this one included. */
  readonly nodes: number;
  /** Servers that have a whole copy of the log; `undefined` where the node does not know, as an edge. */
  readonly logCopies: number | undefined;
}

const ROLES: readonly ClusterState['role'][] = ['leader', 'standby', 'edge'];

/** These metrics in the text format; none for a process that is alone. */
export function clusterText(state: ClusterState | undefined): string {
  if (state === undefined) return '';
  return [
    metricText(
      'tickseal_cluster_role',
      'gauge',
      '1 for the role that the node has, else 0.',
      ROLES.map((role) => ({ labels: { role }, value: Number(role === state.role) })),
    ),
    gauge('tickseal_cluster_epoch', 'The newest epoch that the node knows.', state.epoch),
    gauge(
      'tickseal_cluster_log_lag_records',
      'Records of the log that the node knows of and has not applied.',
      state.logLagRecords,
    ),
    gauge(
      'tickseal_cluster_log_lag_seconds',
      'For how long the node has applied no record of the log while there were some.',
      state.logLagSeconds,
    ),
    gauge(
      'tickseal_cluster_ticks_silent_seconds',
      'For how long no price of the leader has come; 0 on the leader.',
      state.ticksSilentSeconds,
    ),
    count(
      'tickseal_cluster_tick_gaps_total',
      'Times that prices of the leader were missing.',
      state.tickGaps,
    ),
    count(
      'tickseal_cluster_refused_writes_total',
      'Writes to the log that were refused, or of which nobody knew what became.',
      state.refusedWrites,
    ),
    gauge('tickseal_cluster_standbys', 'Aggregators that could take over.', state.standbys),
    gauge('tickseal_cluster_nodes', 'Nodes that report themselves.', state.nodes),
    state.logCopies === undefined
      ? ''
      : gauge('tickseal_cluster_log_copies', 'Servers that have a whole copy of the log.', state.logCopies),
  ].join('');
}

function gauge(name: string, help: string, value: number): string {
  return metricText(name, 'gauge', help, [{ labels: {}, value }]);
}

function count(name: string, help: string, value: number): string {
  return metricText(name, 'counter', help, [{ labels: {}, value }]);
}
