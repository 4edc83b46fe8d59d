import type { StreamInfo } from '@nats-io/jetstream';
import { createInbox } from '@nats-io/transport-node';
import { z } from 'zod';
import type { ServerDisk } from '../log/log_servers.js';
import { SERVERS_TOPIC } from '../subjects.js';
import { readJson } from '../unreadable.js';
import type { BusConnection } from './nats_connection.js';
import type { Names } from './nats_options.js';

const ANSWER_MS_MAX = 2_000;
const ANSWER_BYTES_MAX = 256 * 1024;
const NO_RESPONDERS = 503;
const NS_PER_MS = 1_000_000;

/** The part of a server's answer to `$SYS.REQ.SERVER.PING.VARZ` that says when it writes to its disk. */
const serverState = z.object({
  server: z.object({ name: z.string().max(256) }),
  data: z.object({
    jetstream: z.object({
      config: z.object({
        sync_always: z.boolean().optional(),
        sync_interval: z.number().nonnegative().optional(),
      }),
    }),
  }),
});

/**
 * Asks each server of the log how soon it writes to its disk. The servers answer in their system account, from which the aggregators'
 * account imports the answers.
 */
export async function askDisks(
  connection: BusConnection,
  { cluster }: StreamInfo,
  names: Names,
): Promise<readonly ServerDisk[]> {
  const copies = new Map((cluster?.replicas ?? []).map(({ name, offline }) => [name, offline === true]));
  const first = cluster?.leader ?? connection.server;
  if (first !== undefined) copies.set(first, false);
  const answering = [...copies].filter(([, isAway]) => !isAway).map(([server]) => server);
  const answers = await collectAnswers(connection, names.topic(SERVERS_TOPIC), new Set(answering));
  return [...copies]
    .map(([server, isAway]) => ({ server, isAway, syncMs: answers.get(server) }))
    .sort((a, b) => (a.server < b.server ? -1 : 1));
}

/**
 * Resolves when all servers have answered, or after a time limit.
 * @returns for each server, the longest time before a write reaches its disk, in ms
 */
function collectAnswers(
  connection: BusConnection,
  subject: string,
  missing: Set<string>,
): Promise<ReadonlyMap<string, number>> {
  return new Promise((resolve) => {
    const answers = new Map<string, number>();
    const inbox = createInbox(connection.inboxPrefix);
    const end = () => {
      clearTimeout(timer);
      stop();
      stopLost();
      resolve(answers);
    };
    const stop = connection.subscribe(inbox, ({ data, headers }) => {
      if (headers?.code === NO_RESPONDERS) return end();
      const state = readJson(serverState, data, ANSWER_BYTES_MAX);
      if (state === undefined) return;
      const { sync_always: isAlways = false, sync_interval: intervalNs = 0 } = state.data.jetstream.config;
      const { name } = state.server;
      // If the answer has no interval, the time is unknown.
      const syncMs = isAlways ? 0 : intervalNs / NS_PER_MS || Number.POSITIVE_INFINITY;
      answers.set(name, Math.max(syncMs, answers.get(name) ?? 0));
      missing.delete(name);
      if (missing.size === 0) end();
    });
    const stopLost = connection.onLost(end);
    const timer = setTimeout(end, ANSWER_MS_MAX);
    connection.publish(subject, new Uint8Array(0), inbox);
  });
}
