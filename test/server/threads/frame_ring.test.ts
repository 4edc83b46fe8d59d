import fc from 'fast-check';
import { test } from 'tap';
import {
  createRingMemory,
  FrameReader,
  FrameWriter,
  ringBytesFor,
} from '../../../src/server/threads/frame_ring.js';

const RING_BYTES = 256;

test('frames come out as they went in, also across the ends of the ring and of its counter', async () => {
  const frame = fc.record({
    topic: fc.nat({ max: 2 ** 32 - 1 }),
    sequence: fc.maxSafeNat(),
    bytes: fc.uint8Array({ maxLength: 100 }),
  });
  const steps = fc.array(fc.oneof(frame, fc.constant('read' as const)), { maxLength: 60 });
  // The counter wraps at 2^32 bytes.
  const start = fc.nat({ max: 64 }).map((words) => (2 ** 32 - 8 * words) % 2 ** 32);
  fc.assert(
    fc.property(start, steps, (position, todo) => {
      const memory = createRingMemory(RING_BYTES);
      new Uint32Array(memory, 0, 1)[0] = position;
      const writer = new FrameWriter(memory);
      const reader = new FrameReader(memory);
      const waiting: { topic: number; sequence: number; bytes: Uint8Array }[] = [];
      for (const step of todo) {
        if (step === 'read') {
          const expected = waiting.shift();
          if (expected === undefined) continue;
          const { topic, sequence, bytes } = reader.read();
          if (topic !== expected.topic || sequence !== expected.sequence) throw new Error('another frame');
          if (Buffer.compare(bytes, expected.bytes) !== 0) throw new Error('other bytes');
        } else {
          const used = waiting.reduce((sum, { bytes }) => sum + recordBytes(bytes.length), 0);
          const fits = used + recordBytes(step.bytes.length) <= RING_BYTES;
          if (writer.write(step.topic, step.sequence, step.bytes) !== fits) throw new Error('fits or not');
          if (fits) waiting.push(step);
        }
      }
    }),
  );
});

function recordBytes(frameBytes: number): number {
  return Math.ceil((16 + frameBytes) / 8) * 8;
}

test('a ring holds the number of frames it was made for', async (t) => {
  for (const frameBytes of [1, 7, 100, 72_000, 4_718_592]) {
    const writer = new FrameWriter(createRingMemory(ringBytesFor(4, frameBytes)));
    for (let i = 0; i < 4; i++) t.ok(writer.write(i, i, Buffer.alloc(frameBytes)));
  }
});
