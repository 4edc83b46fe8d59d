import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { acceptsEncoding, gzipped } from '../../../src/server/http/content_encoding.js';

const PARTS = 200;
const PART_BYTES = 16 * 1024;
/** The number of parts that the stream makes before its reader wants them. */
const AHEAD_MAX = 10;

/** Makes parts that do not compress. @param failing the number of the part that fails */
function source(failing = PARTS) {
  const state = { made: 0, ended: false, bytes: [] as Buffer[] };
  async function* parts() {
    try {
      for (; state.made < PARTS; state.made++) {
        if (state.made === failing) throw new Error('damaged');
        const part = randomBytes(PART_BYTES);
        state.bytes.push(part);
        yield part;
      }
    } finally {
      state.ended = true;
    }
  }
  return { state, parts: parts() };
}

test('an encoding is accepted by its name, unless its weight is 0', async (t) => {
  for (const header of ['gzip', 'br, GZIP', 'gzip;q=0.1', 'br;q=0, gzip ; q=1'])
    t.ok(acceptsEncoding(header, 'gzip'), header);
  for (const header of ['', 'br', 'gzip;q=0', 'gzip; q=0.00', 'x-gzip', '*'])
    t.notOk(acceptsEncoding(header, 'gzip'), header);
});

test('compressed parts have the same bytes, and few are made before they are read', async (t) => {
  const { state, parts } = source();
  const read: Uint8Array[] = [];
  let aheadMax = 0;
  let length = 0;
  for await (const part of gzipped(parts)) {
    read.push(part);
    length += part.length;
    aheadMax = Math.max(aheadMax, state.made - Math.floor(length / PART_BYTES));
    await new Promise(setImmediate);
  }
  t.ok(aheadMax <= AHEAD_MAX, `${aheadMax} parts ahead`);
  t.ok(gunzipSync(Buffer.concat(read)).equals(Buffer.concat(state.bytes)));
});

test('an error of a part reaches the reader, and a reader that leaves ends the parts', async (t) => {
  const failing = source(3);
  await t.rejects(async () => {
    for await (const _ of gzipped(failing.parts));
  }, /damaged/);
  const left = source();
  for await (const _ of gzipped(left.parts)) break;
  await eventually(async () => left.state.ended);
  t.ok(left.state.made < PARTS);
});
