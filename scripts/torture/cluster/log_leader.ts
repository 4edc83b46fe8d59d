import { connect } from '@nats-io/transport-node';
import type { NatsServers } from '../../load/nats_servers.js';
import { eventually } from '../../load/wait.js';

const ANSWER_MS_MAX = 2_000;

/** Returns the server that leads the log, as an index from 0 for `n1`, `n2` and so on. Waits while no server leads. */
export function logLeader(servers: NatsServers): Promise<number> {
  const look = async () => {
    for (const server of servers.urls.keys()) {
      const name = await leaderAt(servers, server).catch(() => undefined);
      if (name !== undefined) return Number(name.slice(1)) - 1;
    }
    return undefined;
  };
  return eventually(look, { what: 'a server leads the log' });
}

/** Asks a server as node 1, an aggregator. @throws Error when the server does not answer */
async function leaderAt(servers: NatsServers, server: number): Promise<string | undefined> {
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
    const answer = await client.request('$JS.API.STREAM.INFO.TS_MAIN_LOG', '', { timeout: ANSWER_MS_MAX });
    return answer.json<{ readonly cluster?: { readonly leader?: string } }>().cluster?.leader;
  } finally {
    await client.close();
  }
}
