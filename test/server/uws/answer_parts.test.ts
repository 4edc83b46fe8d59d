import { request } from 'node:http';
import { connect } from 'node:net';
import { test } from 'tap';
import { eventually, pause } from '../../../scripts/load/wait.js';
import { listenWith } from './opened_listener.js';

const PART = Buffer.alloc(64 * 1024, 'x');

/** Listens with an answer of `total` parts. Creating the part `failAt` fails. */
function open({ total, failAt = total }: { readonly total: number; readonly failAt?: number }) {
  const state = { made: 0, left: 0 };
  async function* parts() {
    try {
      for (let part = 0; part < total; part++) {
        if (part === failAt) throw new Error('no part');
        await pause(0);
        state.made++;
        const bytes = Buffer.from(PART);
        bytes.writeUInt32BE(part);
        yield bytes;
      }
    } finally {
      state.left++;
    }
  }
  const headers = [['Link', '<x>']] as const;
  const listener = listenWith(() => ({ status: 200, headers, body: '', parts: parts(), contentType: 'a/b' }));
  const get = () =>
    new Promise<{ readonly parts: number; readonly isWhole: boolean }>((resolve, reject) => {
      request({ host: '127.0.0.1', port: listener.port, agent: false }, (response) => {
        let bytes = Buffer.alloc(0);
        let inOrder = 0;
        response.on('data', (more: Buffer) => {
          bytes = Buffer.concat([bytes, more]);
          for (; bytes.length >= PART.length; bytes = bytes.subarray(PART.length))
            if (bytes.readUInt32BE(0) === inOrder && bytes[PART.length - 1] === 0x78) inOrder++;
        });
        const done = () => resolve({ parts: inOrder, isWhole: response.complete && bytes.length === 0 });
        response.on('end', done).on('error', done);
      })
        .on('error', reject)
        .end();
    });
  return { listener, state, get };
}

/** Returns what a client receives that asks once. */
async function answerText(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1', () => socket.end('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'));
  let text = '';
  for await (const bytes of socket) text += bytes;
  return text;
}

test('a body comes in parts, and ends its connection when a part cannot be made', async (t) => {
  const whole = open({ total: 50 });
  t.same(await whole.get(), { parts: 50, isWhole: true });
  t.same(whole.state, { made: 50, left: 1 });
  await whole.listener.close();
  const none = open({ total: 0 });
  t.same(await none.get(), { parts: 0, isWhole: true });
  await none.listener.close();
  const broken = open({ total: 50, failAt: 5 });
  t.match(await broken.get(), { isWhole: false });
  await broken.listener.close();
  // The head of an answer without its end looks like an empty body to some clients.
  const failed = open({ total: 50, failAt: 0 });
  const text = await answerText(failed.listener.port);
  t.match(text, /^HTTP\/1\.1 503 .*\r\nRetry-After: 1\r\n.*\r\n\r\n\{"error":"the answer could not be made/s);
  t.notMatch(text, /<x>/);
  await failed.listener.close();
});

test('for a reader that stops reading no more parts are made, and all come when it goes on', async (t) => {
  const { listener, state } = open({ total: 1_000 });
  const socket = connect(listener.port, '127.0.0.1');
  let bytes = 0;
  socket.on('data', (more) => {
    bytes += more.length;
  });
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  let before = -1;
  await eventually(async () => {
    const isStill = state.made > 0 && state.made === before;
    before = state.made;
    await pause(100);
    return isStill;
  });
  t.ok(before < 500, `${before} parts are made`);
  socket.resume();
  await eventually(() => bytes > 1_000 * PART.length && state.left === 1);
  t.equal(state.made, 1_000);
  socket.destroy();

  const gone = connect(listener.port, '127.0.0.1');
  gone.pause();
  gone.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await eventually(() => state.made > 1_000);
  gone.destroy();
  await eventually(() => state.left === 2);
  t.ok(state.made < 1_900, 'the rest is not made for a reader that left');
  await listener.close();
});
