import { type Test, test } from 'tap';
import { EquivocationError, ProtocolError, type TicksealError } from '../../../src/client/connect/errors.js';
import { PassedOver } from '../../../src/client/prices/passed_over.js';
import type { PayloadVerifier } from '../../../src/client/prices/payload_verifier.js';
import { SignedMemory } from '../../../src/client/prices/signed_memory.js';
import { decodePayload, type Payload } from '../../../src/client/verify/decode_payload.js';
import { parseEvidence } from '../../../src/client/verify/evidence_file.js';
import { verifyEvidence } from '../../../src/client/verify/log_evidence.js';
import { verifyPayload } from '../../../src/client/verify/verify_payload.js';
import { bodyOf, SIGNER, signed } from '../signed_payload.js';

const SECOND_MS = 1_000;

/** Returns a payload of asset 1. @param isForged true for a payload whose signature does not fit */
function payloadOf(price: bigint, timestampNs = 1_000n, isForged = false) {
  const body = bodyOf({ taxonomyId: 3, timestampNs, assets: [[1, price, 1]] }, false);
  const hex = signed(body);
  return isForged ? `0x${'11'.repeat(64)}00${hex.slice(132)}` : hex;
}

/** Opens a memory whose verifications wait until the test calls `settle`. */
function open() {
  const errors: TicksealError[] = [];
  const failed: string[] = [];
  const asked: (() => void)[] = [];
  const clock = { ms: 0 };
  let verified = 0;
  const verify: PayloadVerifier['verify'] = (hex, settle) => {
    verified += 1;
    asked.push(() => settle(verifyPayload(hex, { signers: [SIGNER] })));
  };
  const memory = new SignedMemory({
    verifier: { verify },
    steadyMs: () => clock.ms,
    onError: (error) => errors.push(error),
  });
  const source = {
    url: 'https://a.example.com',
    symbols: { symbolOf: (id: number) => `S${id}` },
    onFailed: (_report: unknown, hex: string) => failed.push(hex),
  };
  return {
    errors,
    failed,
    clock,
    verified: () => verified,
    settle() {
      for (let next = asked.shift(); next !== undefined; next = asked.shift()) next();
    },
    passOver: (hex: string) => memory.passOver({ hex, payload: decodePayload(hex) as Payload }, source),
    add(hex: string) {
      const report = verifyPayload(hex, { signers: 'unchecked' });
      if (report.verdict !== 'failed') memory.addPayload({ report, hex }, source);
    },
  };
}

async function expectEvidence(t: Test, errors: readonly TicksealError[]): Promise<void> {
  t.match(errors, [EquivocationError]);
  const { evidence } = errors[0] as EquivocationError;
  t.match(await verifyEvidence(parseEvidence(evidence), { signers: [SIGNER] }), { verdict: 'verified' });
}

test('two values are noticed although one payload or both were passed over', async (t) => {
  for (const [first, second] of [
    ['passOver', 'add'],
    ['passOver', 'passOver'],
  ] as const) {
    const memory = open();
    memory[first](payloadOf(1n));
    memory[second](payloadOf(2n));
    memory.settle();
    await expectEvidence(t, memory.errors);
    memory.passOver(payloadOf(3n));
    memory.settle();
    t.equal(memory.errors.length, 1, 'a key is accused once');
  }
});

test('payloads that nobody signed buy a bounded number of verifications', async (t) => {
  const memory = open();
  memory.add(payloadOf(1n));
  const forge = (count: number) => {
    for (let i = 0; i < count; i++) {
      memory.passOver(payloadOf(BigInt(i + 2), 1_000n, true));
      memory.settle();
    }
  };
  forge(100);
  t.equal(memory.failed.length, 100, 'the source reports each of them');
  t.same(memory.errors, []);
  forge(1_000);
  t.equal(memory.verified(), 100);
  t.match(memory.errors.splice(0), [ProtocolError], 'said once');
  memory.clock.ms += SECOND_MS;
  forge(1_000);
  t.equal(memory.verified(), 200);
  t.same(memory.errors, []);
  memory.clock.ms += SECOND_MS;
  memory.passOver(payloadOf(2n));
  memory.settle();
  await expectEvidence(t, memory.errors);
});

test('the passed over payloads of a time and of all times are bounded', async (t) => {
  const passed = new PassedOver();
  const hexes = Array.from({ length: 100 }, (_, i) => String(i).padStart(10_000, '0'));
  for (const hex of hexes) passed.add('a', hex);
  t.same(passed.at('a'), hexes.slice(-16));
  for (const hex of hexes) passed.add(`at ${hex}`, hex);
  t.same(passed.at('a'), [], 'the oldest time was forgotten');
  t.equal(hexes.filter((hex) => passed.at(`at ${hex}`).length === 1).length, 50);
});
