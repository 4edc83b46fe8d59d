import { test } from 'tap';
import { FakeClock } from '../clock/fake_clock.js';
import { startTestService } from '../service/harness.js';
import { THREAD_COUNTS } from '../tier.js';
import { clientFrame, OPCODES, RawSocket } from './raw_socket.js';

// Pings and pongs count as control messages. Without this limit, one read of a connection could contain 87,000 pings.

const LIMIT = 10;
/** The test exceeds the limit in a single write. */
const FLOOD = 20_000;
const PATHS = ['/ws', '/evm/subscribe', '/evm/publish'];
/** Opens a connection when the token's budget has recovered from the earlier connections. Threads update their time at ticks. */
async function openWhenPaid(port: number, path: string, clock: FakeClock): Promise<RawSocket> {
  for (let tries = 1; ; tries++) {
    clock.advanceMs(1_000);
    try {
      return await RawSocket.open(port, path);
    } catch (error) {
      if (tries === 1_000 || !/ 429 /.test((error as Error).message)) throw error;
    }
  }
}

/** Returns the close frame as text, and the pongs before it. */
async function endOf(socket: RawSocket): Promise<{ close: string; pongs: number }> {
  let pongs = 0;
  for (;;) {
    const frame = await socket.next();
    if (frame === undefined) return { close: 'none', pongs };
    if (frame.opcode === OPCODES.pong) pongs++;
    if (frame.opcode === OPCODES.close)
      return { close: `${frame.payload.readUInt16BE(0)} ${frame.payload.subarray(2)}`, pongs };
  }
}

function flood(socket: RawSocket, frame: Buffer, count: number): void {
  socket.write(Buffer.concat(Array<Buffer>(count).fill(frame)));
}

for (const threads of THREAD_COUNTS) {
  test(`${threads} thread(s): pings and pongs past the limit end the connection`, async (t) => {
    // The clock is stopped, so that all frames arrive in one second.
    const clock = new FakeClock();
    const service = await startTestService(t, { listen: { threads } }, { clock });
    for (const path of PATHS)
      for (const [name, frame] of [
        ['long pings', clientFrame(OPCODES.ping, 'x'.repeat(125))],
        ['empty pongs', clientFrame(OPCODES.pong)],
        ['text pings', clientFrame(OPCODES.text, '{"type":"ping"}')],
      ] as const) {
        const socket = await openWhenPaid(service.port, path, clock);
        flood(socket, frame, FLOOD);
        const { close, pongs } = await endOf(socket);
        t.match(close, /^1008 /, `${name} on ${path}`);
        t.ok(pongs <= LIMIT + 1, `${name} on ${path}: ${pongs} pongs`);
      }
    const quiet = await openWhenPaid(service.port, '/ws', clock);
    flood(quiet, clientFrame(OPCODES.ping), LIMIT);
    for (let i = 0; i < LIMIT; i++) t.equal((await quiet.next())?.opcode, OPCODES.pong);
    t.notOk(quiet.isEnded, 'the limit itself works');
    quiet.socket.destroy();
  });
}
