import { connect } from 'node:net';

/**
 * Returns the server that leads the log, as an index from 0 for `n1`, `n2` and so on. Returns `undefined` while no server
 * leads.
 */
export async function logLeader(servers: readonly string[]): Promise<number | undefined> {
  for (const server of servers) {
    const name = await ask(Number(new URL(server).port));
    if (name !== undefined) return Number(name.slice(1)) - 1;
  }
  return undefined;
}

const ANSWER_MS_MAX = 2_000;

/** Asks in the protocol of NATS, which consists of lines of text. */
function ask(port: number): Promise<string | undefined> {
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
    socket.write(
      'CONNECT {"verbose":false}\r\nSUB log_leader 1\r\nPUB $JS.API.STREAM.INFO.TS_MAIN_LOG log_leader 0\r\n\r\n',
    );
  });
}
