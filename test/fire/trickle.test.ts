import { test } from 'tap';
import { startTestService, TestSocket } from '../service/harness.js';
import { clientFrame, OPCODES, RawSocket } from './raw_socket.js';

const IDLE_S = 8;
const BYTE_INTERVAL_MS = 100;

test('a frame that trickles is ended by the idle timeout, and a connection that only reads is not', async (t) => {
  const service = await startTestService(t, { limits: { idle_timeout: `${IDLE_S}s` } });
  const listener = await TestSocket.open(`${service.socketUrl}/ws`);
  const startMs = performance.now();
  const trickle = await RawSocket.open(service.port, '/ws');
  const frame = clientFrame(
    OPCODES.text,
    JSON.stringify({ type: 'subscribe', assets: [1], id: 'x'.repeat(2_000) }),
  );
  let sent = 0;
  const timer = setInterval(() => trickle.write(frame.subarray(sent, ++sent)), BYTE_INTERVAL_MS);
  let last = await trickle.next();
  while (last?.opcode === OPCODES.ping) last = await trickle.next();
  clearInterval(timer);
  const tookMs = performance.now() - startMs;
  t.equal(last?.opcode, OPCODES.close);
  t.equal(last?.payload.readUInt16BE(0), 1008);
  t.ok(sent < frame.length && sent > 10, `${sent} of ${frame.length} bytes sent`);
  t.ok(tookMs >= IDLE_S * 1_000, `closed after ${Math.round(tookMs)} ms`);
  listener.send({ type: 'subscribe', assets: [1], id: 1 });
  t.match(await listener.nextJson(), { id: 1 });
});
