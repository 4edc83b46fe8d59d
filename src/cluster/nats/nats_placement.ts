import { setTimeout as wait } from 'node:timers/promises';
import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import { type Damaged, LogGone, type LogLead, type ServerReport } from '../log/log_servers.js';
import type { LeadChoice } from './lead_choice.js';
import type { BusConnection } from './nats_connection.js';
import type { Log } from './nats_log.js';
import { isCode, STREAM_NOT_FOUND } from './nats_streams.js';

const MOVE_MS_MAX = 5_000;
/** The time limit for an answer about the new lead, the wait before the next request, and the largest number of requests. */
const MOVED_LOOK_MS = 100;
const MOVED_WAIT_MS = 20;
const MOVED_LOOKS_MAX = 20;
const NS_PER_MS = 1_000_000;
const NO_LEADER = 'no server leads the log';

/** The log, whose writes wait while its lead moves. */
type LogWrites = Pick<Log, 'moveLead'>;

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
  return (await inspect(connection, manager, stream, nowMs)).report;
}

/**
 * Moves the log's lead to a better server, if there is one. The loss of one machine should not stop both the server that leads the log and
 * the node that writes it, because an election among the servers takes 4 to 9 s.
 * @param nowMs the wall clock
 * @param damaged the servers that must not lead the log
 */
export async function keepLogLeaderApart(
  connection: BusConnection,
  manager: JetStreamManager,
  stream: string,
  log: LogWrites,
  choice: LeadChoice,
  nowMs: () => number,
  damaged: Damaged,
): Promise<ServerReport> {
  const { report, info } = await inspect(connection, manager, stream, nowMs);
  const { ownServer, logLeader } = report;
  const others = (info.cluster?.replicas ?? []).map(({ name, current, offline, active }) => ({
    server: name,
    isCurrent: current && offline !== true,
    silentMs: active / NS_PER_MS,
  }));
  const to = choice.next({ leader: logLeader, ownServer, others }, damaged, performance.now());
  if (to === undefined) return report;
  await log.moveLead(() => move(connection, stream, to));
  return { ...report, logLeader: to, moved: true };
}

/**
 * Asks the server that leads the log for the state of its copy.
 * @throws Error when no server leads the log
 */
export async function askLogLead(
  connection: BusConnection,
  manager: JetStreamManager,
  stream: string,
): Promise<LogLead> {
  const info = await manager.streams.info(stream);
  // A server without other servers has no lead.
  const server = info.cluster === undefined ? connection.server : info.cluster.leader;
  if (server === undefined) throw new Error(NO_LEADER);
  const { first_seq, last_seq } = info.state;
  return { server, firstSequence: first_seq, lastSequence: last_seq };
}

/**
 * Moves the lead of the log to another server that has a complete copy, if possible not to the server of this node.
 * @returns the server; `undefined` when no such server has a complete copy
 */
export async function moveLogLead(
  connection: BusConnection,
  manager: JetStreamManager,
  stream: string,
  log: LogWrites,
  damaged: Damaged,
): Promise<string | undefined> {
  const whole = otherCopies(await manager.streams.info(stream)).filter((server) => !damaged.has(server));
  const to = whole.find((server) => server !== connection.server) ?? whole[0];
  if (to !== undefined) await log.moveLead(() => move(connection, stream, to));
  return to;
}

/** @returns the report, and the answer of the server that leads the log */
async function inspect(
  connection: BusConnection,
  manager: JetStreamManager,
  stream: string,
  nowMs: () => number,
): Promise<{ readonly report: ServerReport; readonly info: StreamInfo }> {
  const askedMs = nowMs();
  const info = await connection
    .untilLost(() => manager.streams.info(stream))
    .catch((error) => {
      throw isCode(error, STREAM_NOT_FOUND) ? new LogGone(stream) : error;
    });
  const answeredMs = nowMs();
  const leader = info.cluster?.leader;
  // Another server answers when the log has had no leader for some time.
  if (info.cluster !== undefined && leader === undefined) throw new Error(NO_LEADER);
  const ownServer = connection.server;
  const report = {
    ...(ownServer !== undefined && { ownServer }),
    ...(leader !== undefined && { logLeader: leader }),
    currentCopies: otherCopies(info).length + 1,
    clockAheadMs: Date.parse(info.ts!) - (askedMs + answeredMs) / 2,
    clockErrorMs: (answeredMs - askedMs) / 2,
    moved: false,
  };
  return { report, info };
}

/** Returns the servers with a complete copy of the log, apart from the server that leads it. */
function otherCopies({ cluster }: StreamInfo): string[] {
  return (cluster?.replicas ?? [])
    .filter(({ current, offline }) => current && offline !== true)
    .map(({ name }) => name);
}

/** Resolves when the other server leads the log. Until then, requests about the log may remain unanswered. */
async function move(connection: BusConnection, stream: string, server: string): Promise<void> {
  const request = JSON.stringify({ placement: { preferred: server } });
  const subject = `$JS.API.STREAM.LEADER.STEPDOWN.${stream}`;
  const answer = await connection.request(subject, new TextEncoder().encode(request), MOVE_MS_MAX);
  const { error } = answer.json<{ readonly error?: { readonly description: string } }>();
  if (error !== undefined)
    throw new Error(`the log's lead could not be handed to ${server}: ${error.description}`);
  for (let looks = 0; looks < MOVED_LOOKS_MAX; looks++) {
    if (await leads(connection, stream, server)) return;
    await wait(MOVED_WAIT_MS, undefined, { ref: false });
  }
}

async function leads(connection: BusConnection, stream: string, server: string): Promise<boolean> {
  const subject = `$JS.API.STREAM.INFO.${stream}`;
  const answer = await connection.request(subject, new Uint8Array(), MOVED_LOOK_MS).catch(() => undefined);
  return answer?.json<Partial<StreamInfo>>().cluster?.leader === server;
}
