import { test } from 'tap';
import { startTestService, TestSocket } from '../service/harness.js';
import { THREAD_COUNTS } from '../tier.js';
import { clientFrame, OPCODES, RawSocket } from './raw_socket.js';

const { continuation, text, binary, close, ping, pong } = OPCODES;
const REQUEST = JSON.stringify({ type: 'subscribe', assets: [1], id: 'request' });
const ANSWER = JSON.stringify({ type: 'subscribe', id: 'request', assets: [1], invalid: [] });
/** The message that is sent after each row. All answers before its answer are answers to the row. */
const SENTINEL = clientFrame(text, JSON.stringify({ type: 'unsubscribe', assets: [], id: 'sentinel' }));
const KIB = 1024;

/**
 * A row with its answers. `pong` is a pong, `close CODE` is a close frame, and `lost` is a connection that ended without a
 * close frame.
 */
type Row = readonly [name: string, bytes: Buffer, answers: readonly (string | RegExp)[]];

function closing(...bytes: number[]): Buffer {
  return clientFrame(close, Buffer.from(bytes));
}

const LOST = ['lost'];

const ROWS: readonly Row[] = [
  ['a request', clientFrame(text, REQUEST), [ANSWER]],
  [
    'a request in pieces, with a ping between',
    Buffer.concat([
      clientFrame(text, REQUEST.slice(0, 5), { isFinal: false }),
      clientFrame(ping, 'hi'),
      clientFrame(continuation, REQUEST.slice(5)),
    ]),
    ['pong', ANSWER],
  ],
  [
    'a request behind 1,000 empty pieces',
    Buffer.concat([
      clientFrame(text, '', { isFinal: false }),
      ...new Array<Buffer>(1_000).fill(clientFrame(continuation, '', { isFinal: false })),
      clientFrame(continuation, REQUEST),
    ]),
    [ANSWER],
  ],
  ['reserved bit 1', clientFrame(text, REQUEST, { reserved: 4 }), LOST],
  ['opcode 3', clientFrame(3, 'x'), LOST],
  ['a ping in pieces', clientFrame(ping, 'x', { isFinal: false }), LOST],
  ['a ping of 126 bytes', clientFrame(ping, 'x'.repeat(126)), LOST],
  ['a continuation of nothing', clientFrame(continuation, 'x'), LOST],
  ['a message in a message', Buffer.concat([clientFrame(text, 'a', { isFinal: false }), SENTINEL]), LOST],
  ['bytes that are no UTF-8', clientFrame(text, Buffer.from('fffe', 'hex')), LOST],
  ['a close', closing(0x03, 0xe8), ['close 1000', ...LOST]],
  ['a close with code 1006', closing(0x03, 0xee), ['close', ...LOST]],
  ['a close with a reason that is no UTF-8', closing(0x03, 0xe8, 0xff), ['close', ...LOST]],
  ['a binary frame', clientFrame(binary, 'x'), ['close 1003', ...LOST]],
  ['a length of 2^64 - 1', Buffer.from('81ffffffffffffffffff00000000', 'hex'), LOST],
  [
    '64 KiB and a byte',
    clientFrame(text, 'x'.repeat(64 * KIB + 1)),
    [/has 65537 bytes, client_message_bytes is 65536/],
  ],
  ['512 KiB and a byte', clientFrame(text, '', { declaredBytes: 512 * KIB + 1 }), LOST],
  [
    '576 KiB in pieces',
    Buffer.concat(
      Array.from({ length: 9 }, (_, i) =>
        clientFrame(i === 0 ? text : continuation, 'x'.repeat(64 * KIB), { isFinal: false }),
      ),
    ),
    LOST,
  ],
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n'), LOST],
];

for (const threads of THREAD_COUNTS) {
  test(`frames: each gets the right close code or error, and other connections go on, ${threads} threads`, async (t) => {
    const service = await startTestService(t, { listen: { port: 0, threads } });
    const bystander = await TestSocket.open(`${service.socketUrl}/ws`);
    const answers = await Promise.all(ROWS.map(([, bytes]) => answersTo(service.port, bytes)));
    ROWS.forEach(([name, , expected], row) => {
      t.match(answers[row], expected, name);
      t.equal(answers[row]!.length, expected.length, name);
    });
    bystander.send({ type: 'subscribe', assets: [1], id: 'bystander' });
    t.match(await bystander.nextJson(), { id: 'bystander', assets: [1] }, 'another connection');
  });
}

/**
 * An unmasked request has no effect, because uWebSockets.js ignores the mask bit and uses four bytes of the message as the
 * mask.
 */
test('an unmasked request has no effect', async (t) => {
  const service = await startTestService(t);
  const answers = await answersTo(service.port, clientFrame(text, REQUEST, { isMasked: false }), 20);
  t.notOk(answers.includes(ANSWER));
});

/** Returns the answers before the answer to the sentinel, or before the end of the connection. */
async function answersTo(port: number, bytes: Buffer, sentinels = 1): Promise<string[]> {
  const socket = await RawSocket.open(port, '/ws');
  socket.write(Buffer.concat([bytes, ...new Array<Buffer>(sentinels).fill(SENTINEL)]));
  const answers: string[] = [];
  for (;;) {
    const frame = await socket.next();
    if (frame === undefined) return [...answers, 'lost'];
    const { opcode, payload } = frame;
    if (opcode === text && payload.includes('"sentinel"')) break;
    if (opcode === text) answers.push(payload.toString());
    else if (opcode === pong) answers.push('pong');
    else if (opcode === close)
      answers.push(`close ${payload.length > 1 ? payload.readUInt16BE(0) : ''}`.trim());
    else answers.push(`opcode ${opcode}`);
  }
  socket.socket.destroy();
  return answers;
}
