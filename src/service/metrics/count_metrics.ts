import type { Counters } from '../../model/counters.js';
import type { MetricRow } from '../../model/text_format.js';

/** The metrics that count since the start. */
// biome-ignore format: two lines for each metric show them as a table
export const COUNT_METRICS: readonly MetricRow<{ readonly counters: Counters }>[] = [
  { name: 'tickseal_publish_messages_total', type: 'counter', help: 'Messages that publishers sent.',
    read: ({ counters }) => counters.publishMessages },
  { name: 'tickseal_updates_accepted_total', type: 'counter', help: 'Price updates that passed every check.',
    read: ({ counters }) => counters.updatesAccepted },
  { name: 'tickseal_updates_rejected_total', type: 'counter', labels: ['reason'],
    help: 'Price updates that were refused, and messages that were refused as a whole, by reason.',
    read: ({ counters }) => counters.updatesRejected },
  { name: 'tickseal_logins_refused_total', type: 'counter', labels: ['reason'],
    help: 'Requests and upgrades that were refused for their login, by reason.',
    read: ({ counters }) => counters.loginsRefused },
  { name: 'tickseal_connections_refused_total', type: 'counter',
    help: 'Connections that were ended at once because their client address had too many.',
    read: ({ counters }) => counters.connectionsRefused },
  { name: 'tickseal_aggregates_signed_total', type: 'counter', help: 'Aggregates that were signed.',
    read: ({ counters }) => counters.aggregatesSigned },
  { name: 'tickseal_budget_refusals_total', type: 'counter', labels: ['limit', 'caller'],
    help: 'Frames, messages and subscriptions that a token or key was refused, by the limit that it was past.',
    read: ({ counters }) => [...counters.budgetRefusals].flatMap(([limit, byCaller]) => withFirstLabel(limit, byCaller)) },
  { name: 'tickseal_signing_failures_total', type: 'counter', help: 'Aggregates that could not be signed.',
    read: ({ counters }) => counters.signingFailures },
  { name: 'tickseal_aggregates_dropped_total', type: 'counter',
    help: 'Aggregates that newer ones replaced while the disk kept them from being signed.',
    read: ({ counters }) => counters.aggregatesDropped },
  { name: 'tickseal_delta_moves_held_total', type: 'counter',
    help: 'Updates that moved a price by delta_percent while their asset was at limits.delta_aggregates_per_second.',
    read: ({ counters }) => counters.deltasHeld },
  { name: 'tickseal_assets_ended_total', type: 'counter', help: 'Times that an asset lost its price because its inputs were too old.',
    read: ({ counters }) => counters.assetsEnded },
  { name: 'tickseal_publisher_replies_dropped_total', type: 'counter', help: 'Replies to publishers that do not read them.',
    read: ({ counters }) => counters.repliesDropped },
  { name: 'tickseal_stream_frames_made_total', type: 'counter', help: 'Frames that were encoded.',
    read: ({ counters }) => counters.framesMade },
  { name: 'tickseal_stream_frames_skipped_total', type: 'counter', help: 'Frames that slow readers were not sent; they get newer ones.',
    read: ({ counters }) => counters.framesSkipped },
  { name: 'tickseal_stream_ticks_skipped_total', type: 'counter',
    help: 'Ticks on which a group of connections received no frame because the service was late.',
    read: ({ counters }) => counters.ticksSkipped },
  { name: 'tickseal_stream_slow_consumers_closed_total', type: 'counter', help: 'Connections closed with 1013 for not reading.',
    read: ({ counters }) => counters.slowConsumersClosed },
  { name: 'tickseal_listen_thread_failures_total', type: 'counter', help: 'Threads that died or hung; each was replaced.',
    read: ({ counters }) => counters.threadFailures },
  { name: 'tickseal_listen_thread_overruns_total', type: 'counter',
    help: 'Times that a thread was so far behind that it had to receive everything again.',
    read: ({ counters }) => counters.threadOverruns },
  { name: 'tickseal_event_loop_stalls_total', type: 'counter',
    help: 'Times that a tick was late by more than 0.5 s, because the event loop was busy.',
    read: ({ counters }) => counters.eventLoopStalls },
];

/** Adds a first label before the label of each count. */
export function withFirstLabel<Label>(first: string, counts: ReadonlyMap<Label, number>) {
  return [...counts].map(([label, count]) => [first, label, count] as const);
}
