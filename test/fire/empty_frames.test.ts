import { type Test, test } from 'tap';
import { openTcpCounters } from '../../src/server/uws/tcp_counters.js';
import { FakeClock } from '../clock/fake_clock.js';
import { sha256, startTestService, TestSocket, TOKEN } from '../service/harness.js';
import { THREAD_COUNTS } from '../tier.js';
import { clientFrame, OPCODES, RawSocket } from './raw_socket.js';

// Messages with endless empty continuation frames. uWebSockets.js reports a message only at its end, which never arrives.

const BEGIN = clientFrame(OPCODES.text, '{', { isFinal: false });
const EMPTY = clientFrame(OPCODES.continuation, '', { isFinal: false });
const WRITE = Buffer.concat(Array<Buffer>(40_000).fill(EMPTY));
const FLOODING = 4;

const skip = openTcpCounters() === undefined ? 'the counts of TCP need Linux, glibc and koffi' : false;

/** Opens a connection as soon as the token's budget allows. Threads update their time at ticks. */
async function openWhenAllowed(port: number, path: string, clock: FakeClock): Promise<RawSocket> {
  for (let tries = 1; ; tries++) {
    try {
      return await RawSocket.open(port, path);
    } catch (error) {
      if (tries === 1_000 || !/ 429 /.test((error as Error).message)) throw error;
      clock.advanceMs(1_000);
    }
  }
}

/** Sends empty frames until the connection ends. */
async function flood(port: number, path: string, clock: FakeClock): Promise<void> {
  const socket = await openWhenAllowed(port, path, clock);
  const sendNext = () => {
    if (!socket.isEnded) socket.socket.write(WRITE, () => setImmediate(sendNext));
  };
  socket.write(BEGIN);
  sendNext();
  await socket.ended;
}

async function endsFlood(t: Test, threads: number): Promise<void> {
  const clock = new FakeClock();
  const service = await startTestService(
    {
      listen: { threads },
      tokens: [TOKEN, 'other'].map((token) => ({
        name: token,
        sha256: sha256(token),
        scopes: ['stream', 'publish'],
      })),
    },
    { clock },
  );
  t.teardown(() => service.stop());
  const quiet = await TestSocket.open(`${service.socketUrl}/ws`, 'other');
  for (const path of ['/ws', '/evm/subscribe', '/evm/publish']) {
    await Promise.all(Array.from({ length: FLOODING }, () => flood(service.port, path, clock)));
    // With several threads, only a thread that closed a connection refuses the next connection.
    if (threads > 1) continue;
    await t.rejects(RawSocket.open(service.port, '/ws'), { message: / 429 / }, path);
    clock.advanceMs(9_999);
    await t.rejects(RawSocket.open(service.port, '/ws'), { message: / 429 / }, path);
    clock.advanceMs(1);
  }
  quiet.send({ type: 'ping', id: 1 });
  t.match(await quiet.nextJson(), { type: 'pong', id: 1 }, 'another token');
  await quiet.close();
}

for (const threads of THREAD_COUNTS)
  test(`${threads} thread(s): connections that send only empty frames end`, { skip }, (t) =>
    endsFlood(t, threads),
  );
