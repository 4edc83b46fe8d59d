import { connect } from 'node:net';
import type { NatsServers } from '../../load/nats_servers.js';
import { pause } from '../../load/wait.js';
import { until } from '../service.js';
import { MOVE_LOG_LEADER } from './nodes.js';

const LEADS_MS_MAX = 30_000;
const LOOK_MS = 500;
const ANSWER_MS_MAX = 2_000;
const INBOX = '_INBOX.aggregator.log_leader';

/** Returns the server that leads the log, as an index from 0 for `n1`, `n2` and so on. Waits while no server leads. */
export async function logLeader(servers: NatsServers): Promise<number> {
  let found: number | undefined;
  await until('a server leads the log', async () => {
    found = await leaderOf(servers);
    return found !== undefined;
  });
  return found!;
}

/** Makes a server lead the log, if the server can. */
export async function moveLogLeader(servers: NatsServers, server: number): Promise<void> {
  const request = JSON.stringify({ placement: { preferred: `n${server + 1}` } });
  const leads = async () => {
    const leader = await leaderOf(servers);
    if (leader === server) return true;
    await askLog(servers, leader ?? 0, MOVE_LOG_LEADER, request).catch(() => {});
    await pause(LOOK_MS);
    return false;
  };
  await until('the server leads the log', leads, LEADS_MS_MAX).catch(() => {});
}

async function leaderOf(servers: NatsServers): Promise<number | undefined> {
  for (const server of servers.urls.keys()) {
    const answer = await askLog(servers, server, '$JS.API.STREAM.INFO.TS_MAIN_LOG').catch(() => '');
    const name = /"cluster":\{.*?"leader":"(n\d+)"/.exec(answer)?.[1];
    if (name !== undefined) return Number(name.slice(1)) - 1;
  }
  return undefined;
}

/**
 * Sends a request to a server in the protocol of NATS, which consists of lines of text, as node 1, an aggregator.
 * @throws Error when the server does not answer
 */
function askLog(servers: NatsServers, server: number, subject: string, request = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(new URL(servers.urls[server]!).port), '127.0.0.1');
    const fail = () => reject(new Error(`no answer to ${subject}`));
    socket.setTimeout(ANSWER_MS_MAX, () => socket.destroy());
    socket.on('error', fail).on('close', fail);
    socket.on('data', (data) => {
      text += data;
      const start = text.indexOf(`MSG ${INBOX}`);
      const [, length] = /MSG \S+ 1 (\d+)\r\n/.exec(text.slice(start)) ?? [];
      const at = text.indexOf('\r\n', start) + 2;
      if (start < 0 || length === undefined || text.length < at + Number(length)) return;
      resolve(text.slice(at, at + Number(length)));
      socket.destroy();
    });
    const [user, pass] = servers.credentialsOf(1).split(':');
    const login = JSON.stringify({ verbose: false, user, pass });
    socket.write(
      `CONNECT ${login}\r\nSUB ${INBOX} 1\r\nPUB ${subject} ${INBOX} ${request.length}\r\n${request}\r\n`,
    );
  });
}
