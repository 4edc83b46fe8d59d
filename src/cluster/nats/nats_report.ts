import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import { LogGone, type ServerReport } from '../log/log_servers.js';
import type { BusConnection } from './nats_connection.js';
import { isCode, STREAM_NOT_FOUND } from './nats_streams.js';

/**
 * Returns the current state of the servers.
 * @param nowMs the wall clock
 * @throws Error when no server leads the log
 */
export async function reportServers(
  connection: BusConnection,
  manager: JetStreamManager,
  stream: string,
  nowMs: () => number,
): Promise<ServerReport> {
  const askedMs = nowMs();
  const info = await connection
    .untilLost(() => manager.streams.info(stream))
    .catch((error) => {
      throw isCode(error, STREAM_NOT_FOUND) ? new LogGone(stream) : error;
    });
  const answeredMs = nowMs();
  // Another server answers when the log has had no leader for some time.
  if (info.cluster !== undefined && info.cluster.leader === undefined)
    throw new Error('no server leads the log');
  return {
    currentCopies: currentCopies(info),
    clockAheadMs: Date.parse(info.ts!) - (askedMs + answeredMs) / 2,
    clockErrorMs: (answeredMs - askedMs) / 2,
  };
}

/** Returns the number of servers with a complete copy of the log, including the server that leads it. */
function currentCopies({ cluster }: StreamInfo): number {
  const others = cluster?.replicas ?? [];
  return 1 + others.filter(({ current, offline }) => current && offline !== true).length;
}
