import { EventEmitter } from 'node:events';
import { type Test, test } from 'tap';
import { RingReader } from '../../../../src/log/feed/byte_ring.js';
import { EdgeThread, type EdgeThreadOptions } from '../../../../src/service/edge/threads/edge_thread.js';
import type { ThreadCommand } from '../../../../src/service/edge/threads/thread_messages.js';
import { createLivenessMemory } from '../../../../src/service/edge/threads/watchdog.js';

// Tests of a thread from the view of the main thread. faults.whole.test.ts tests real threads that hang.

/** A worker that only records its commands. */
class FakeWorker extends EventEmitter {
  readonly commands: ThreadCommand[] = [];

  postMessage(commands: readonly ThreadCommand[]): void {
    this.commands.push(...commands);
  }

  /** Returns the names of all commands since the last call. */
  taken(): string[] {
    return this.commands.splice(0).map((command) => command.do);
  }

  unref(): void {}
}

function open(t: Test) {
  const worker = new FakeWorker();
  const told = { overruns: 0, snapshots: 0, failures: [] as string[], exits: 0 };
  const options = {
    loaded: { worker, liveness: createLivenessMemory(), loaded: Promise.resolve() },
    start: {},
    ringBytes: 1_024,
    host: {
      snapshot: () => ({ sequence: ++told.snapshots, live: [] }),
      written: async () => {},
      overrun: () => told.overruns++,
    },
    onFailure: ({ message }: Error) => told.failures.push(message),
    onExit: () => told.exits++,
  };
  const thread = new EdgeThread(options as unknown as EdgeThreadOptions);
  thread.listening.catch(() => {});
  t.teardown(() => worker.emit('exit'));
  return { worker, thread, told };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a thread that is too far behind gets nothing until it has read its ring, and then everything', async (t) => {
  const { worker, thread, told } = open(t);
  await turn();
  const [start] = worker.commands;
  const ring = new RingReader((start as Extract<ThreadCommand, { do: 'start' }>).start.ring);
  t.same(worker.taken(), ['start', 'begin', 'load']);
  let written = 0;
  while (told.overruns === 0) thread.write(1, ++written, new Uint8Array(100));
  thread.write(1, ++written, new Uint8Array(100));
  await turn();
  t.equal(told.overruns, 1, 'it is counted once');
  t.match(worker.commands, [{ do: 'feed', count: written - 2 }]);
  worker.taken();
  for (let read = 0; read < written - 2; read++) t.equal(ring.read().sequence, read + 1);
  t.equal(thread.waitingBytes, 0);
  while (told.snapshots < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  await turn();
  t.same(worker.taken(), ['begin', 'load']);
  thread.write(1, 99, new Uint8Array(100));
  t.equal(ring.read().sequence, 99);
});

test('a thread that ends is reported once, and its open questions end', async (t) => {
  const { worker, thread, told } = open(t);
  worker.emit('message', [{ on: 'listening' }]);
  await t.resolves(thread.listening);
  const draining = thread.drain(60_000);
  worker.emit('error', new Error('an exception'));
  worker.emit('exit');
  await draining;
  t.same(told.failures, ['an exception']);
  t.same([told.exits, thread.isListening], [1, false]);
});
