import { type MetricRow, metricsText } from '../../model/text_format.js';
import type { Decision, WithheldReason } from '../decision.js';
import type { MarketVerdict } from '../market_reading.js';
import type { SourceCounts, SourceMeter } from './source_meter.js';

/** The values of a scrape of the sources process. */
export interface SourceScrape {
  readonly meter: SourceMeter;
  /** The decisions on all assets now. */
  readonly decisions: readonly Decision[];
  readonly nowMs: number;
  readonly cpuSeconds: number;
  readonly residentBytes: number;
  /** Absent if nothing is recorded. */
  readonly recording: { readonly bytes: number; readonly isFailed: boolean } | undefined;
}

const REASONS: readonly WithheldReason[] = ['too few sources', 'sources disagree', 'outside bounds'];

/** The metrics of the sources process, in the order of the output. */
// biome-ignore format: two lines for each metric show them as a table
export const SOURCE_METRICS: readonly MetricRow<SourceScrape>[] = [
  { name: 'tickseal_sources_frames_total', type: 'counter', labels: ['source'], help: 'Frames, lines and answers that a source sent.',
    read: ({ meter }) => perSource(meter, ({ frames }) => frames) },
  { name: 'tickseal_sources_frame_characters_total', type: 'counter', labels: ['source'], help: 'Their size in characters.',
    read: ({ meter }) => perSource(meter, ({ characters }) => characters) },
  { name: 'tickseal_sources_events_total', type: 'counter', labels: ['source', 'event'],
    help: 'Quotes, subscribed, refused and halted pairs, announced ends and lost frames (ending), and garbage (malformed).',
    read: ({ meter }) => [...meter.sources].flatMap(([name, { events }]) => [...events].map(([kind, value]) => [name, kind, value] as const)) },
  { name: 'tickseal_sources_connections_opened_total', type: 'counter', labels: ['source'], help: 'Connections that were made; all but the first ones are made again.',
    read: ({ meter }) => perSource(meter, ({ opened }) => opened) },
  { name: 'tickseal_sources_connections', type: 'gauge', labels: ['source'], help: 'Connections that there are.',
    read: ({ meter }) => perSource(meter, ({ opened, ended }) => opened - ended) },
  { name: 'tickseal_sources_faults', type: 'gauge', labels: ['source'], help: 'Pairs of the file that the source lacks, and keys that make it unusable.',
    read: ({ meter }) => perSource(meter, ({ faults }) => faults) },
  { name: 'tickseal_sources_silence_seconds', type: 'gauge', labels: ['source'], help: 'Time since the last quote of a source, or since the start.',
    read: ({ meter, nowMs }) => perSource(meter, ({ quotedAtMs }) => (nowMs - quotedAtMs) / 1000) },
  { name: 'tickseal_sources_live_markets', type: 'gauge', labels: ['source'], help: 'Markets of a source with a quote that is not stale.',
    read: ({ decisions }) => liveMarkets(decisions) },
  { name: 'tickseal_sources_quote_age_seconds', type: 'gauge', labels: ['asset', 'source', 'symbol'], help: "Age of a market's newest quote.",
    read: ({ decisions }) => readingsOf(decisions, ({ quote }, { atNs }) => (quote === undefined ? undefined : Number(atNs - quote.timeNs) / 1e9)) },
  { name: 'tickseal_sources_clock_offset_seconds', type: 'gauge', labels: ['asset', 'source', 'symbol'], help: "Distance of a market's clock from this host's, once it is known.",
    read: ({ decisions }) => readingsOf(decisions, ({ quote }) => (quote?.offsetNs === undefined ? undefined : Number(quote.offsetNs) / 1e9)) },
  { name: 'tickseal_sources_lag_seconds', type: 'gauge', labels: ['asset', 'source', 'symbol'], help: "Age of a market's newest quote when it came.",
    read: ({ decisions }) => readingsOf(decisions, ({ quote }) => (quote === undefined ? undefined : Number(quote.receivedNs - quote.timeNs) / 1e9)) },
  { name: 'tickseal_sources_market_used', type: 'gauge', labels: ['asset', 'source', 'symbol'], help: "1 while a market's price counts.",
    read: ({ decisions }) => readingsOf(decisions, ({ verdict }) => (verdict === 'used' ? 1 : 0)) },
  { name: 'tickseal_sources_verdicts_total', type: 'counter', labels: ['asset', 'source', 'symbol', 'verdict'], help: 'Verdicts on a market at the ends of intervals.',
    read: ({ meter, decisions }) => decisions.flatMap(({ asset }) =>
      meter.assets.get(asset.symbol)!.verdicts.flatMap((verdicts, place) => {
        const { source, symbol } = asset.inputs[place]!;
        return [...verdicts].map(([verdict, value]) => [asset.symbol, source, symbol, verdict, value] as const);
      })) },
  { name: 'tickseal_sources_decisions_total', type: 'counter', labels: ['asset', 'trigger'], help: 'Decisions that were written: at the end of an interval (clock), after a move (delta), or without a price (withheld).',
    read: ({ meter }) => [...meter.assets].flatMap(([asset, { decisions }]) => [...decisions].map(([trigger, value]) => [asset, trigger, value] as const)) },
  { name: 'tickseal_sources_withheld_total', type: 'counter', labels: ['asset', 'reason'], help: 'Ends of intervals at which an asset had no price, by reason.',
    read: ({ meter }) => [...meter.assets].flatMap(([asset, { withheld }]) => [...withheld].map(([reason, value]) => [asset, reason, value] as const)) },
  { name: 'tickseal_sources_withheld', type: 'gauge', labels: ['asset', 'reason'], help: '1 for the reason for which an asset has no price now.',
    read: ({ decisions }) => decisions.flatMap(({ asset, withheld }) => REASONS.map((reason) => [asset.symbol, reason, withheld === reason ? 1 : 0] as const)) },
  { name: 'tickseal_sources_recorded_bytes_total', type: 'counter', help: 'Bytes that were recorded.',
    read: ({ recording }) => recording?.bytes },
  { name: 'tickseal_sources_recording_failed', type: 'gauge', help: '1 after the recording ended because its disk refused it.',
    read: ({ recording }) => (recording === undefined ? undefined : recording.isFailed ? 1 : 0) },
  { name: 'process_cpu_seconds_total', type: 'counter', help: 'CPU time of the process.',
    read: ({ cpuSeconds }) => cpuSeconds },
  { name: 'process_resident_memory_bytes', type: 'gauge', help: 'Resident memory of the process.',
    read: ({ residentBytes }) => residentBytes },
];

/** Writes all metrics in the Prometheus text format. */
export function sourceMetricsText(scrape: SourceScrape): string {
  return metricsText(SOURCE_METRICS, scrape);
}

function perSource(meter: SourceMeter, read: (counts: SourceCounts) => number): [string, number][] {
  return [...meter.sources].map(([name, counts]) => [name, read(counts)]);
}

function readingsOf(
  decisions: readonly Decision[],
  read: (reading: Decision['readings'][number], decision: Decision) => number | undefined,
): [string, string, string, number | undefined][] {
  return decisions.flatMap((decision) =>
    decision.readings.map((reading): [string, string, string, number | undefined] => {
      const { source, symbol } = reading.input;
      return [decision.asset.symbol, source, symbol, read(reading, decision)];
    }),
  );
}

const OLD: ReadonlySet<MarketVerdict> = new Set(['no time', 'late', 'stale', 'unproven']);

/** Counts the markets of each source whose quote is young enough for its asset. */
function liveMarkets(decisions: readonly Decision[]): Map<string, number> {
  const live = new Map<string, number>();
  for (const { readings } of decisions)
    for (const { input, quote, verdict } of readings) {
      const isLive = quote !== undefined && !OLD.has(verdict);
      live.set(input.source, (live.get(input.source) ?? 0) + (isLive ? 1 : 0));
    }
  return live;
}
