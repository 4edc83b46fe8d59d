import type { MessagePort } from 'node:worker_threads';
import { test } from 'tap';
import { EventOutbox } from '../../../src/server/threads/event_outbox.js';
import { OUTBOX_HANDLED } from '../../../src/server/threads/thread_messages.js';
import { createLivenessMemory, LivenessSignal, Watchdog } from '../../../src/server/threads/watchdog.js';

const TICKS = 10;

test('a thread that beats now and then is never silent, and one that stops is', (t) => {
  const memory = createLivenessMemory();
  const liveness = new LivenessSignal(memory);
  let silences = 0;
  const watch = new Watchdog(memory, () => {
    silences++;
  });
  for (let round = 0; round < 5; round++) {
    liveness.beat();
    for (let tick = 0; tick < TICKS; tick++) watch.tick();
  }
  t.equal(silences, 0);
  watch.tick();
  t.equal(silences, 1);
  t.end();
});

test('a thread that waits for the main thread is not silent', (t) => {
  const memory = new Int32Array(new SharedArrayBuffer(8));
  const weightBytes = 8 * 1024 * 1024;
  let beats = 0;
  const liveness = new LivenessSignal(createLivenessMemory());
  liveness.beat = () => {
    // The main thread gets round to it.
    if (++beats === 3) Atomics.add(memory, OUTBOX_HANDLED, weightBytes);
  };
  const port = { postMessage: () => {} } as Pick<MessagePort, 'postMessage'> as MessagePort;
  const outbox = new EventOutbox(port, memory.buffer as SharedArrayBuffer, liveness);
  outbox.post({ on: 'text', socket: 0, text: '' }, weightBytes);
  t.equal(beats, 3);
  t.end();
});
