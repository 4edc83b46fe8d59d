import { ml_dsa44 } from '@noble/post-quantum/ml-dsa.js';
import { test } from 'tap';
import { verifyByWebCrypto } from '../../src/tlog/ed25519.js';
import { verifyByNode } from '../../src/tlog/ed25519_key.js';
import { parsePolicy } from '../../src/tlog/log_policy.js';
import { openCheckpoint, requireQuorum } from '../../src/tlog/open_checkpoint.js';
import { formatNote } from '../../src/tlog/signed_note.js';
import { formatCheckpoint } from '../../src/tlog/tree_checkpoint.js';
import { formatVerifierKey, KEY_TYPES, parseVerifierKey, verifierKey } from '../../src/tlog/verifier_key.js';
import { LOG, LOG_ORIGIN, policyText, WITNESSES } from './witnessed_log.js';

const NAME = 'quantum.example/w';
const KEYS = ml_dsa44.keygen(new Uint8Array(32).fill(9));
const KEY = verifierKey(NAME, KEY_TYPES.mlDsa, KEYS.publicKey);
const POLICY = parsePolicy(policyText(`witness Q ${formatVerifierKey(KEY)}\ngroup G 2 W1 Q\nquorum G`));
const ROOT = new Uint8Array(32).fill(0xab);
const TEXT = formatCheckpoint({ origin: LOG_ORIGIN, size: 300n, root: ROOT });

/** Returns the line of the witness. The signed bytes are put together by hand. */
function cosigned(timeS: number, signedTimeS = timeS) {
  const bigEndian = (value: number) => `00000000${value.toString(16).padStart(8, '0')}`;
  const sized = (text: string) =>
    Buffer.from(text).length.toString(16).padStart(2, '0') + Buffer.from(text).toString('hex');
  const message = Buffer.from(
    [
      '737562747265652f76310a00',
      sized(NAME),
      bigEndian(signedTimeS),
      sized(LOG_ORIGIN),
      bigEndian(0),
      bigEndian(300),
      Buffer.from(ROOT).toString('hex'),
    ].join(''),
    'hex',
  );
  const signature = ml_dsa44.sign(message, KEYS.secretKey);
  return {
    name: NAME,
    keyId: KEY.keyId,
    blob: Buffer.concat([Buffer.from(bigEndian(timeS), 'hex'), signature]),
  };
}

const noteWith = (...cosignatures: readonly { name: string; keyId: number; blob: Uint8Array }[]) =>
  formatNote({ text: TEXT, signatures: [LOG.sign(LOG_ORIGIN, TEXT), ...cosignatures] });

test('a policy may name witnesses with ML-DSA-44 keys, whose cosignatures count', async (t) => {
  t.same(parseVerifierKey(formatVerifierKey(KEY)), KEY);
  const [{ name, key }] = WITNESSES as unknown as [(typeof WITNESSES)[number]];
  const ed25519 = key.cosign(name, TEXT, 100n);
  const open = (note: string) => openCheckpoint(note, POLICY, verifyByNode);
  const both = await open(noteWith(ed25519, cosigned(1_800_000_000)));
  t.equal(both.cosigners.get('Q'), 1_800_000_000n);
  requireQuorum(both, POLICY);
  const fault = { name: 'TlogError', message: `the signature of ${NAME} does not verify` };
  await t.rejects(open(noteWith(cosigned(101, 100))), fault, 'another time');
  const flipped = cosigned(100);
  flipped.blob[1_000]! ^= 1;
  await t.rejects(open(noteWith(flipped)), fault);
});

test('where ML-DSA-44 is not supported, such a cosignature does not count', async (t) => {
  const signed = await openCheckpoint(noteWith(cosigned(100)), POLICY, verifyByWebCrypto);
  t.equal(signed.cosigners.size, 0);
  t.throws(() => requireQuorum(signed, POLICY), /cosigned by no witness/);
});

test('an ML-DSA-44 key of another size, or of a log, is refused', async (t) => {
  t.throws(() => verifierKey(NAME, KEY_TYPES.mlDsa, KEYS.publicKey.subarray(1)), {
    message: `the key of ${NAME} has 1311 bytes`,
  });
  t.throws(() => parsePolicy(`log ${formatVerifierKey(KEY)}\nquorum none\n`), {
    message: `line 1 of the policy: the key of ${NAME} has type 6, which is not supported here`,
  });
});
