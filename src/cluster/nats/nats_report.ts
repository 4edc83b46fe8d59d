import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import type { LogReport, ServerReport } from '../log/log_servers.js';
import type { BusConnection } from './nats_connection.js';
import type { Names, NatsOptions } from './nats_options.js';
import { isCode, STREAM_NOT_FOUND } from './nats_streams.js';

/**
 * Returns the current state of the servers. An edge asks only for the log, because it needs the stream of candles only at its start.
 * @param nowMs the wall clock
 * @throws Error when no server leads the log
 */
export async function reportServers(
  connection: BusConnection,
  manager: JetStreamManager,
  names: Names,
  role: NatsOptions['role'],
  nowMs: () => number,
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
  return { goneStreams, ...(log && { log }) };
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
