import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import type { LogReport, ServerReport } from '../log/log_servers.js';
import type { BusConnection } from './nats_connection.js';
import { askDisks } from './nats_disks.js';
import type { Names, NatsOptions } from './nats_options.js';
import { isCode, STREAM_NOT_FOUND } from './nats_streams.js';

export interface ReportRequest {
  readonly names: Names;
  /** The role of the asking node. An edge does not ask for the stream of candles, which it needs only at its start. */
  readonly role: NatsOptions['role'];
  /** The wall clock. */
  readonly nowMs: () => number;
  readonly asksDisks: boolean;
}

/**
 * Returns the current state of the servers.
 * @throws Error when no server leads the log
 */
export async function reportServers(
  connection: BusConnection,
  manager: JetStreamManager,
  { names, role, nowMs, asksDisks }: ReportRequest,
): Promise<ServerReport> {
  const infoOf = (stream: string) =>
    connection
      .untilLost(() => manager.streams.info(stream))
      .catch((error) => {
        if (isCode(error, STREAM_NOT_FOUND)) return undefined;
        throw error;
      });
  const askedMs = nowMs();
  const info = await infoOf(names.logStream);
  const log = info && stateOf(info, askedMs, nowMs());
  const hasCandles = role === 'edge' || (await infoOf(names.candleStream)) !== undefined;
  const goneStreams = [
    ...(log ? [] : [goneText(names.logStream, LOG_NEEDS)]),
    ...(hasCandles ? [] : [goneText(names.candleStream, CANDLES_NEED)]),
  ];
  const disks = info && asksDisks ? await askDisks(connection, info, names) : undefined;
  return { goneStreams, disks, ...(log && { log }) };
}

const LOG_NEEDS = 'no node can make prices until tickseal store --new-log was run on every data folder';
const CANDLES_NEED =
  'no edge can start until an aggregator was restarted, which makes the stream again, without the older candles';

function goneText(stream: string, needs: string): string {
  return `the NATS servers have no stream ${stream} any more: it was deleted, or they lost their disks; ${needs}`;
}

function stateOf({ cluster, ts }: StreamInfo, askedMs: number, answeredMs: number): LogReport {
  // Another server answers when the log has had no leader for some time.
  if (cluster !== undefined && cluster.leader === undefined) throw new Error('no server leads the log');
  const others = cluster?.replicas ?? [];
  return {
    currentCopies: 1 + others.filter(({ current, offline }) => current && offline !== true).length,
    clockAheadMs: Date.parse(ts!) - (askedMs + answeredMs) / 2,
    clockErrorMs: (answeredMs - askedMs) / 2,
  };
}
