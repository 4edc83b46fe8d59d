import fc from 'fast-check';
import { test } from 'tap';
import { createRingMemory, RingReader, RingWriter } from '../../../src/log/feed/byte_ring.js';

const RING_BYTES = 256;

test('messages come out as they went in, also across the ends of the ring and of its counter', async () => {
  const message = fc.record({
    kind: fc.nat({ max: 2 ** 32 - 1 }),
    sequence: fc.maxSafeNat(),
    bytes: fc.uint8Array({ maxLength: 100 }),
  });
  const steps = fc.array(fc.oneof(message, fc.constant('read' as const)), { maxLength: 60 });
  // The counter overflows at 2^32 bytes, so the ring starts near that number.
  const start = fc.nat({ max: 64 }).map((words) => (2 ** 32 - 8 * words) % 2 ** 32);
  fc.assert(
    fc.property(start, steps, (position, todo) => {
      const memory = createRingMemory(RING_BYTES);
      new Uint32Array(memory, 0, 1)[0] = position;
      const writer = new RingWriter(memory);
      const reader = new RingReader(memory);
      const waiting: { kind: number; sequence: number; bytes: Uint8Array }[] = [];
      for (const step of todo) {
        if (step === 'read') {
          const expected = waiting.shift();
          if (expected === undefined) continue;
          const { kind, sequence, bytes } = reader.read();
          if (kind !== expected.kind || sequence !== expected.sequence) throw new Error('another message');
          if (Buffer.compare(bytes, expected.bytes) !== 0) throw new Error('other bytes');
        } else {
          const used = waiting.reduce((sum, { bytes }) => sum + recordBytes(bytes.length), 0);
          const fits = used + recordBytes(step.bytes.length) <= RING_BYTES;
          if (writer.write(step.kind, step.sequence, step.bytes) !== fits) throw new Error('fits or not');
          if (fits) waiting.push(step);
        }
      }
    }),
  );
});

function recordBytes(messageBytes: number): number {
  return Math.ceil((16 + messageBytes) / 8) * 8;
}
