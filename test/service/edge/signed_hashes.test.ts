import { test } from 'tap';
import { loggedDigest, SignedHashes } from '../../../src/service/edge/signed_hashes.js';

test('hashes go to the log after the interval, when the buffer is full, and on request', async (t) => {
  const sent: Uint8Array[] = [];
  let nowMs = 1_000;
  const hashes = new SignedHashes(
    (bytes) => sent.push(bytes),
    () => nowMs,
  );
  const digest = loggedDigest((body, out, at) => out.fill(body[0]!, at, at + 32), hashes);
  const out = new Uint8Array(96);
  hashes.flush();
  t.same(sent, [], 'nothing is sent without hashes');
  digest(Uint8Array.of(1), out, 0);
  digest(Uint8Array.of(2), out, 64);
  t.same([out[0], out[32], out[64]], [1, 0, 2]);
  hashes.tick();
  t.equal(sent.length, 0, 'the interval is not over');
  nowMs += 100;
  hashes.tick();
  t.same(sent, [Uint8Array.from([...Array(32).fill(1), ...Array(32).fill(2)])]);
  for (let i = 0; i < 2_048; i++) digest(Uint8Array.of(3), out, 0);
  t.equal(sent[1]?.length, 2_048 * 32, 'a full buffer is sent at once');
  digest(Uint8Array.of(4), out, 0);
  hashes.flush();
  t.same(sent[2], new Uint8Array(32).fill(4));
  t.equal(loggedDigest(digest, undefined), digest, 'without a log the digest is the same function');
});
