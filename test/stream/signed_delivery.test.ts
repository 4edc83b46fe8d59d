import { test } from 'tap';
import { evmAddress } from '../../src/crypto/evm.js';
import { keccak256 } from '../../src/crypto/keccak.js';
import { secp256k1 } from '../../src/crypto/secp256k1.js';
import { Harness, SIGNED_REAL_TIME, SIGNING_KEY, TAXONOMY_ID } from './harness.js';

const every10ms = { ...SIGNED_REAL_TIME, channel: '10ms' as const };
const MS = 1_000_000n;

test('each signed frame recovers to the signer', async (t) => {
  const harness = new Harness();
  const client = harness.connect(SIGNED_REAL_TIME);
  harness.price(1, 5n);
  client.subscribe(1);
  harness.advanceMs(1);
  harness.price(1, 6n);
  harness.endTurn();
  t.equal(client.frames.length, 2);
  for (const { text } of client.frames) {
    const payload = Buffer.from(JSON.parse(text).p.slice(2), 'hex');
    const body = payload.subarray(65);
    t.equal(body.readUInt16BE(0), TAXONOMY_ID);
    const publicKey = secp256k1.recover(keccak256(body), payload.subarray(0, 64), payload[64] as 0 | 1);
    t.same(evmAddress(publicKey!), evmAddress(secp256k1.publicKey(SIGNING_KEY)));
  }
});

test('a newcomer while a frame is being signed gets its snapshot at once and joins after the frame', async (t) => {
  const harness = new Harness({ signsLater: true });
  const first = harness.connect(SIGNED_REAL_TIME);
  first.subscribe(1);
  harness.price(1, 5n);
  harness.endTurn();
  t.equal(harness.signing, 1);
  harness.clock.advance(MS);
  const second = harness.connect(SIGNED_REAL_TIME);
  second.subscribe(1);
  t.same(second.news(), ['1=5']);
  harness.price(1, 6n);
  harness.endTurn();
  t.equal(harness.signing, 1, 'the next frame waits');
  await harness.finishSigning();
  t.same([first.news(), second.news()], [['1=5'], []]);
  harness.advanceMs(1);
  await harness.finishSigning();
  t.same([first.news(), second.news()], [['1=6'], ['1=6']]);
  harness.advanceMs(1);
  harness.price(1, 7n);
  harness.endTurn();
  t.equal(harness.signing, 1, 'one signature for both');
  await harness.finishSigning();
  t.same([first.news(), second.news()], [['1=7'], ['1=7']]);
});

test('a connection that leaves while a frame is being signed gets its prices in the next group', async (t) => {
  const harness = new Harness({ signsLater: true });
  const client = harness.connect(SIGNED_REAL_TIME);
  client.subscribe(1);
  harness.price(1, 5n);
  harness.endTurn();
  t.equal(harness.signing, 1);
  harness.advanceMs(1);
  client.subscribe(3);
  await harness.finishSigning();
  harness.advanceMs(5);
  t.same(client.news(), ['1=5']);
});

test('the next frame holds the changes of one whose signature failed', async (t) => {
  const harness = new Harness({ signsLater: true });
  const client = harness.connect(SIGNED_REAL_TIME);
  client.subscribe(1);
  harness.price(1, 5n);
  harness.endTurn();
  await harness.finishSigning('failed');
  t.same(client.news(), []);
  t.equal(harness.counters.framesSkipped, 1);
  harness.advanceMs(2);
  await harness.finishSigning();
  t.same(client.news(), ['1=5']);
});

test('fixed channels: a tick that comes while a frame is being signed is skipped and counted', async (t) => {
  const harness = new Harness({ signsLater: true });
  harness.price(1, 5n);
  const client = harness.connect(every10ms);
  client.subscribe(1);
  harness.advanceMs(30, 10);
  t.equal(harness.signing, 1);
  t.equal(harness.counters.ticksSkipped, 2);
  const late = harness.connect(every10ms);
  late.subscribe(1);
  await harness.finishSigning();
  t.same([client.frames.length, late.frames.length], [1, 0]);
  harness.advanceMs(10, 10);
  await harness.finishSigning();
  t.same([client.frames.length, late.frames.length], [2, 1]);
});

test('while the mark of the times is not on disk signed frames wait, and unsigned ones do not', async (t) => {
  const harness = new Harness();
  harness.price(1, 5n);
  const signed = [harness.connect(SIGNED_REAL_TIME), harness.connect(every10ms)];
  const unsigned = harness.connect();
  for (const client of [...signed, unsigned]) client.subscribe(1);
  harness.advanceMs(10, 10);
  for (const client of [...signed, unsigned]) client.news();
  harness.marks.isSlow = true;
  harness.clock.advance(2_000_000_000n);
  harness.price(1, 6n);
  harness.endTurn();
  const late = harness.connect(SIGNED_REAL_TIME);
  late.subscribe(1);
  harness.advanceMs(20, 10);
  t.same(
    signed.map((client) => client.news()),
    [[], []],
  );
  t.same(late.news(), []);
  t.same(unsigned.news(), ['1=6']);
  harness.marks.settle();
  harness.advanceMs(10, 10);
  t.same(
    [...signed, late].map((client) => client.news()),
    [['1=6'], ['1=6'], ['1=6']],
  );
});
