import { connect } from 'node:net';
import type { NatsServers } from '../../../src/cli/demo/nats_servers.js';

/**
 * Returns the server that leads the log, as an index from 0 for `n1`, `n2` and so on. Returns `undefined` while no server
 * leads.
 */
export async function logLeader(servers: NatsServers): Promise<number | undefined> {
  for (const url of servers.urls) {
    const name = await ask(Number(new URL(url).port), servers.credentialsOf(1));
    if (name !== undefined) return Number(name.slice(1)) - 1;
  }
  return undefined;
}

const ANSWER_MS_MAX = 2_000;

const INBOX = '_INBOX.aggregator.log_leader';

/** Asks in the protocol of NATS, which consists of lines of text. @param credentials the user and password of an aggregator */
function ask(port: number, credentials: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1');
    const end = (leader?: string) => {
      socket.destroy();
      resolve(leader);
    };
    socket.setTimeout(ANSWER_MS_MAX, () => end());
    socket.on('error', () => end()).on('close', () => end());
    socket.on('data', (data) => {
      text += data;
      const leader = /"cluster":\{.*?"leader":"(n\d+)"/.exec(text)?.[1];
      if (leader !== undefined || text.includes('"error"')) end(leader);
    });
    const [user, pass] = credentials.split(':');
    const login = JSON.stringify({ verbose: false, user, pass });
    socket.write(
      `CONNECT ${login}\r\nSUB ${INBOX} 1\r\nPUB $JS.API.STREAM.INFO.TS_MAIN_LOG ${INBOX} 0\r\n\r\n`,
    );
  });
}
