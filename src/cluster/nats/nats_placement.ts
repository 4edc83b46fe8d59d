import type { JetStreamManager } from '@nats-io/jetstream';
import { LogGone, type ServerReport } from '../log/log_servers.js';
import type { BusConnection } from './nats_connection.js';
import { isCode, STREAM_NOT_FOUND } from './nats_streams.js';

const MOVE_MS_MAX = 5_000;

/**
 * Returns the current state of the servers.
 * @param nowMs the wall clock
 */
export async function reportServers(
  connection: BusConnection,
  manager: JetStreamManager,
  stream: string,
  nowMs: () => number,
): Promise<ServerReport> {
  return (await inspect(connection, manager, stream, nowMs)).report;
}

/**
 * Keeps the log's lead away from the server to which the writing node is connected. So the loss of one machine never stops both the
 * server that leads the log and the node that writes it. An election among the servers takes 4 to 9 s.
 * @param nowMs the wall clock
 */
export async function keepLogLeaderApart(
  connection: BusConnection,
  manager: JetStreamManager,
  stream: string,
  nowMs: () => number,
): Promise<ServerReport> {
  const { report, other } = await inspect(connection, manager, stream, nowMs);
  const { ownServer, logLeader } = report;
  if (ownServer === undefined || logLeader !== ownServer || other === undefined) return report;
  await move(connection, stream, other);
  return { ...report, logLeader: other, moved: true };
}

/** @returns the report, and a different server that could lead the log */
async function inspect(
  connection: BusConnection,
  manager: JetStreamManager,
  stream: string,
  nowMs: () => number,
): Promise<{ readonly report: ServerReport; readonly other: string | undefined }> {
  const askedMs = nowMs();
  const info = await manager.streams.info(stream).catch((error) => {
    throw isCode(error, STREAM_NOT_FOUND) ? new LogGone(stream) : error;
  });
  const answeredMs = nowMs();
  const { leader, replicas = [] } = info.cluster ?? {};
  const current = replicas.filter(({ current, offline }) => current && offline !== true);
  const ownServer = connection.server;
  const other = current.find(({ name }) => name !== ownServer);
  const report = {
    ...(ownServer !== undefined && { ownServer }),
    ...(leader !== undefined && { logLeader: leader }),
    currentCopies: current.length + 1,
    clockAheadMs: Date.parse(info.ts!) - (askedMs + answeredMs) / 2,
    clockErrorMs: (answeredMs - askedMs) / 2,
    moved: false,
  };
  return { report, other: other?.name };
}

async function move(connection: BusConnection, stream: string, server: string): Promise<void> {
  const request = JSON.stringify({ placement: { preferred: server } });
  const subject = `$JS.API.STREAM.LEADER.STEPDOWN.${stream}`;
  const answer = await connection.request(subject, new TextEncoder().encode(request), MOVE_MS_MAX);
  const { error } = answer.json<{ readonly error?: { readonly description: string } }>();
  if (error !== undefined)
    throw new Error(`the log's lead could not be handed to ${server}: ${error.description}`);
}
