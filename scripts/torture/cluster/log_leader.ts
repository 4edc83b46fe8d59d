import { connect } from '@nats-io/transport-node';
import type { NatsServers } from '../../load/nats_servers.js';
import { eventually, pause } from '../../load/wait.js';
import { MOVE_LOG_LEADER } from './nodes.js';

const LEADS_MS_MAX = 30_000;
const LOOK_MS = 500;
const ANSWER_MS_MAX = 2_000;

/** Returns the server that leads the log, as an index from 0 for `n1`, `n2` and so on. Waits while no server leads. */
export function logLeader(servers: NatsServers): Promise<number> {
  return eventually(() => leaderOf(servers), { what: 'a server leads the log' });
}

/** Makes a server lead the log, if the server can. */
export async function moveLogLeader(servers: NatsServers, server: number): Promise<void> {
  const request = JSON.stringify({ placement: { preferred: `n${server + 1}` } });
  const leads = async () => {
    const leader = await leaderOf(servers);
    if (leader === server) return true;
    await ask(servers, leader ?? 0, MOVE_LOG_LEADER, request).catch(() => {});
    await pause(LOOK_MS);
    return false;
  };
  await eventually(leads, { withinMs: LEADS_MS_MAX }).catch(() => {});
}

async function leaderOf(servers: NatsServers): Promise<number | undefined> {
  for (const server of servers.urls.keys()) {
    const answer = await ask(servers, server, '$JS.API.STREAM.INFO.TS_MAIN_LOG').catch(() => undefined);
    const name = answer?.cluster?.leader;
    if (name !== undefined) return Number(name.slice(1)) - 1;
  }
  return undefined;
}

interface LogAnswer {
  readonly cluster?: { readonly leader?: string };
}

/** Sends a request to a server as node 1, an aggregator. @throws Error when the server does not answer */
async function ask(servers: NatsServers, server: number, subject: string, request = ''): Promise<LogAnswer> {
  const [user, pass] = servers.credentialsOf(1).split(':');
  const client = await connect({
    servers: servers.urls[server]!,
    user: user!,
    pass: pass!,
    // Other subjects for answers are closed to aggregators.
    inboxPrefix: '_INBOX.aggregator',
    timeout: ANSWER_MS_MAX,
    reconnect: false,
  });
  try {
    return (await client.request(subject, request, { timeout: ANSWER_MS_MAX })).json();
  } finally {
    await client.close();
  }
}
