import { connect } from 'node:net';
import type { NatsServers } from '../../load/nats_servers.js';
import { pause } from '../../load/wait.js';
import { until } from '../service.js';
import { MOVE_LOG_LEADER, OPERATOR_PASSWORD } from './nodes.js';

/** Returns the servers' URLs with the login of node 1, an aggregator. */
export function withLogin(servers: NatsServers): string[] {
  return servers.urls.map((url) => url.replace('://', `://${servers.credentialsOf(1)}@`));
}

/** Returns the server that leads the log, as an index from 0 for `n1`, `n2` and so on. Returns `undefined` while no server leads. */
export async function logLeader(servers: readonly string[]): Promise<number | undefined> {
  for (const server of servers) {
    const answer = await askLog(server, '$JS.API.STREAM.INFO.TS_MAIN_LOG').catch(() => '');
    const name = /"cluster":\{.*?"leader":"(n\d+)"/.exec(answer)?.[1];
    if (name !== undefined) return Number(name.slice(1)) - 1;
  }
  return undefined;
}

const LEADS_MS_MAX = 30_000;
const LOOK_MS = 500;

/**
 * Makes a server lead the log, if the server can.
 * @returns the server that leads
 */
export async function moveLogLeader(servers: readonly string[], server: number): Promise<number> {
  const request = JSON.stringify({ placement: { preferred: `n${server + 1}` } });
  let leader: number | undefined;
  await until(
    'a server leads the log',
    async () => {
      leader = await logLeader(servers);
      if (leader === server) return true;
      await askLog(servers[leader ?? 0]!, MOVE_LOG_LEADER, request).catch(() => {});
      await pause(LOOK_MS);
      return false;
    },
    LEADS_MS_MAX,
  ).catch(() => {});
  return leader ?? -1;
}

/** Returns the number of servers that have a complete copy of the log. */
export async function logCopies(server: string): Promise<number> {
  const answer = await askLog(server, '$JS.API.STREAM.INFO.TS_MAIN_LOG').catch(() => '{}');
  const { cluster } = JSON.parse(answer) as {
    cluster?: { leader?: string; replicas?: readonly { current: boolean; offline?: boolean }[] };
  };
  if (cluster?.leader === undefined) return 0;
  return 1 + (cluster.replicas ?? []).filter(({ current, offline }) => current && offline !== true).length;
}

const REMOVED_MS_MAX = 120_000;

/**
 * Removes a server from the group of all servers for good, like an operator whose machine is lost. The servers answer when a majority has
 * stored the removal. On a busy machine, or when their leader changes, the answer may come too late or never. The request is then repeated
 * until the servers report that the server is not a member any more.
 * @param anyOther returns the URL of another server
 * @throws Error with the last answer when the servers do not remove the server in time
 */
export async function removePeer(anyOther: () => string, server: number): Promise<void> {
  const request = JSON.stringify({ peer: `n${server + 1}` });
  let isUnanswered = false;
  let last = '';
  await until(
    'the servers remove the peer',
    async () => {
      const url = anyOther().replace('://', `://system:${OPERATOR_PASSWORD}@`);
      const answer = await askLog(url, '$JS.API.SERVER.REMOVE', request).catch((error: Error) => error);
      if (typeof answer === 'string') {
        last = answer;
        // Without an unanswered request, the leader only does not know the name of the server yet.
        if (answer.includes('"success":true') || (isUnanswered && /not a member/.test(answer))) return true;
      } else {
        last = answer.message;
        isUnanswered = true;
      }
      await pause(LOOK_MS);
      return false;
    },
    REMOVED_MS_MAX,
  ).catch(({ message }: Error) => {
    throw new Error(`${message}; the last answer: ${last}`);
  });
}

const ANSWER_MS_MAX = 2_000;

const INBOX = '_INBOX.aggregator.log_leader';

/**
 * Sends a request to a server in the protocol of NATS, which consists of lines of text.
 * @param server a URL with the user and password of an aggregator, from {@link withLogin}
 * @throws Error when the server does not answer
 */
export function askLog(server: string, subject: string, request = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(new URL(server).port), '127.0.0.1');
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
    const { username: user, password: pass } = new URL(server);
    const login = JSON.stringify({ verbose: false, user, pass });
    socket.write(
      `CONNECT ${login}\r\nSUB ${INBOX} 1\r\nPUB ${subject} ${INBOX} ${request.length}\r\n${request}\r\n`,
    );
  });
}
