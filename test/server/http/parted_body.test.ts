import assert from 'node:assert/strict';
import fc from 'fast-check';
import { test } from 'tap';
import { PartedBody } from '../../../src/server/http/parted_body.js';
import { holds } from '../../holds.js';

test('a body is copied from any offset at or after the last one', async (t) => {
  const parts = fc.array(fc.uint8Array({ maxLength: 9 }), { maxLength: 12 });
  const steps = fc.array(fc.tuple(fc.nat(5), fc.integer({ min: 1, max: 20 })), { maxLength: 30 });
  holds(
    t,
    fc.property(parts, steps, (texts, reads) => {
      const body = new PartedBody(texts);
      const whole = Buffer.concat(texts);
      assert.equal(body.length, whole.length);
      assert.equal(String(body), String(whole));
      let offset = 0;
      for (const [forward, room] of reads) {
        offset = Math.min(offset + forward, whole.length);
        const target = Buffer.alloc(room);
        const copied = body.copy(offset, target);
        assert.deepEqual(target.subarray(0, copied), whole.subarray(offset, offset + room));
      }
    }),
    { numRuns: 1_000 },
  );
});
