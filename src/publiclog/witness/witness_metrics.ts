import { type MetricRow, metricsText } from '../../model/text_format.js';
import type { LogWitness } from './witness.js';

/** The values of a scrape of a witness. */
export interface WitnessScrape {
  readonly witness: LogWitness;
  readonly refusals: ReadonlyMap<number, number>;
  readonly nowMs: number;
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

// biome-ignore format: two lines for each metric show them as a table
export const WITNESS_METRICS: readonly MetricRow<WitnessScrape>[] = [
  { name: 'tickseal_witness_answers_total', type: 'counter', labels: ['origin', 'status'], help: 'Answers to add-checkpoint. The origin is empty when no key of a log signed the checkpoint.',
    read: ({ witness }) => witness.counts.map(({ origin, status, count }) => [origin, status, count] as const) },
  { name: 'tickseal_witness_refused_requests_total', type: 'counter', labels: ['status'], help: 'Requests that were refused before a checkpoint was read.',
    read: ({ refusals }) => [...refusals] },
  { name: 'tickseal_witness_size', type: 'gauge', labels: ['origin'], help: 'Size of the tree that was cosigned last; 0 for none.',
    read: ({ witness }) => witness.latest().map(([origin, kept]) => [origin, Number(kept?.checkpoint.size ?? 0n)] as const) },
  { name: 'tickseal_witness_checkpoint_age_seconds', type: 'gauge', labels: ['origin'], help: 'Time since the newest cosignature.',
    read: ({ witness, nowMs }) => witness.latest().flatMap(([origin, kept]) => (kept === undefined ? [] : [[origin, nowMs / 1000 - kept.timeS] as const])) },
  { name: 'tickseal_witness_cpu_seconds_total', type: 'counter', help: 'Processor time of the process.',
    read: ({ cpuSeconds }) => cpuSeconds },
  { name: 'tickseal_witness_memory_bytes', type: 'gauge', help: 'Memory of the process.',
    read: ({ residentBytes }) => residentBytes },
];

export function witnessMetricsText(scrape: WitnessScrape): string {
  return metricsText(WITNESS_METRICS, scrape);
}
