import { type Test, test } from 'tap';
import { startTestService, TestSocket, withTokens } from '../service/harness.js';
import { THREAD_COUNTS } from '../tier.js';
import { clientFrame, OPCODES, RawSocket } from './raw_socket.js';

// Messages with endless empty continuation frames. uWebSockets.js reports a message only at its end, which never arrives, so the
// service cannot limit these frames. The other callers wait longer meanwhile, but nothing else happens to them.

const BEGIN = clientFrame(OPCODES.text, '{', { isFinal: false });
const EMPTY = clientFrame(OPCODES.continuation, '', { isFinal: false });
const WRITE = Buffer.concat(Array<Buffer>(40_000).fill(EMPTY));
const FLOODING = 4;
/** The number of answers that another token gets during a flood. */
const ANSWERS = 3;

/** Sends empty frames until the socket is destroyed. */
async function flood(port: number, path: string): Promise<RawSocket> {
  const socket = await RawSocket.open(port, path);
  const sendNext = () => {
    if (!socket.socket.destroyed) socket.socket.write(WRITE, () => setImmediate(sendNext));
  };
  socket.write(BEGIN);
  sendNext();
  return socket;
}

async function survivesFlood(t: Test, threads: number): Promise<void> {
  const service = await startTestService(t, { ...withTokens('other'), listen: { threads } });
  const quiet = await TestSocket.open(`${service.socketUrl}/ws`, 'other');
  for (const path of ['/ws', '/evm/subscribe', '/evm/publish']) {
    const flooding = await Promise.all(Array.from({ length: FLOODING }, () => flood(service.port, path)));
    for (let id = 1; id <= ANSWERS; id++) {
      quiet.send({ type: 'ping', id });
      t.match(await quiet.nextJson(), { type: 'pong', id }, `another token beside ${path}`);
      t.equal((await fetch(`${service.adminUrl}/livez`)).status, 200);
    }
    for (const { socket } of flooding) socket.destroy();
  }
  await quiet.close();
}

for (const threads of THREAD_COUNTS)
  test(`${threads} thread(s): others are answered beside connections that send only empty frames`, (t) =>
    survivesFlood(t, threads));
