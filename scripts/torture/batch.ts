import { randomBytes, randomInt } from 'node:crypto';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import { BATCH_MAX, EcdsaBatch } from '../../src/crypto/wasm/ecdsa_batch.js';
import { GROUP_ORDER as N, FIELD_PRIME as P } from '../../src/crypto/wasm/secp256k1_field_code.js';
import { crafted, KEYS, otherParity, type Signed } from '../../test/crypto/batch_of_keys.js';
import { doPointsMeet, modulo, word } from '../../test/crypto/crafted_signatures.js';
import { forgeriesOf, MULTIPLES } from '../../test/crypto/forged_signatures.js';
import { type Check, exactly, type Finding, type Scale, type Skipped } from './check.js';

/** The check that compares the verdicts on batches of signatures with the verdicts of libsecp256k1. */
export const batch: Check = {
  name: 'batch',
  title: 'batches of signatures, and libsecp256k1 for each of them',
  run: async (scale, { count }) =>
    compare(scale === 'smoke' ? SIGNATURES.smoke : (count ?? SIGNATURES.full), CRAFTED[scale]),
};

const SIGNATURES: Readonly<Record<Scale, number>> = { full: 500_000, smoke: 5_000 };
/**
 * The number of crafted signatures. Each batch takes some of these signatures, because making one takes as long as verifying a hundred.
 */
const CRAFTED: Readonly<Record<Scale, number>> = { full: 2_000, smoke: 300 };
/** The largest number of wrong verdicts in the output. */
const SHOWN_MAX = 10;
/** The number of batches between two turns of the event loop. */
const BATCHES_PER_TURN = 100;

/** A signature and the verdict of a batch. A batch may refuse a valid signature if one of its additions has equal points. */
interface Case extends Signed {
  readonly isDoubtful?: boolean;
}

/** The digests at the boundaries of ranges. */
const DIGESTS = [0n, 1n, 2n, N - 1n, N, N + 1n, P - 1n, P, 2n ** 255n, 2n ** 256n - 1n].map(word);

/** The digests that are 0 modulo n. The multiple of the generator is then 0, a rare case of point addition. */
const NULL_DIGESTS: ReadonlySet<Uint8Array> = new Set([DIGESTS[0]!, DIGESTS[4]!]);

/** The keys: first the keys near the generator's table, which the crafted signatures use, then random keys. */
const keys = [...KEYS.map(word), ...Array.from({ length: BATCH_MAX - KEYS.length }, () => randomBytes(32))];

async function compare(count: number, craftedCount: number): Promise<readonly Finding[] | Skipped> {
  if (secp256k1.implementation === 'noble') return { skipped: 'this machine has no libsecp256k1' };
  const tables = new EcdsaBatch(keys.length);
  const publicKeys = keys.map((key) => Buffer.from(secp256k1.publicKey(key)));
  for (const [i, publicKey] of publicKeys.entries()) tables.learn(i, publicKey);
  const rare = craftedCases(craftedCount);
  const seen = { valid: 0, invalid: 0, doubtful: 0 };
  let compared = 0;
  let wrong = 0;
  for (let batches = 0; compared < count; batches++) {
    const cases = Array.from({ length: 1 + randomInt(BATCH_MAX) }, () => nextCase(rare));
    for (const { key, digest, rs, recovery } of cases) tables.add(key, digest, rs, recovery);
    for (const [i, verdict] of tables.verify().entries()) {
      const { key, digest, rs, recovery, isDoubtful = NULL_DIGESTS.has(digest) } = cases[i]!;
      const recovered = secp256k1.recover(digest, rs, recovery);
      const isValid = recovered !== undefined && publicKeys[key]!.equals(recovered);
      seen[isDoubtful ? 'doubtful' : isValid ? 'valid' : 'invalid']++;
      if (verdict === (isValid && !isDoubtful)) continue;
      wrong++;
      if (wrong > SHOWN_MAX) continue;
      process.stderr.write(
        `${verdict}, and ${isValid} of ${secp256k1.implementation}: ${describe(cases[i]!)}\n`,
      );
    }
    compared += cases.length;
    if (batches % BATCHES_PER_TURN === 0) await endOfTurn();
  }
  return [
    { figure: 'signatures', value: compared, unit: '', mustBe: { atLeast: count } },
    { figure: '  valid', value: seen.valid, unit: '', mustBe: { atLeast: 1 } },
    { figure: '  invalid', value: seen.invalid, unit: '', mustBe: { atLeast: 1 } },
    { figure: '  whose points meet', value: seen.doubtful, unit: '', mustBe: { atLeast: 1 } },
    { figure: '  with a wrong verdict', value: wrong, unit: '', mustBe: exactly(0) },
  ];
}

/**
 * Returns signatures that reach rare cases of point addition, and forgeries. A forgery has the incorrect sum that the tables
 * produce for equal or opposite points.
 */
function craftedCases(count: number): Case[] {
  return Array.from({ length: count }, (_, i) => {
    const key = i % KEYS.length;
    const [u1, u2] = [multiple(), multiple()];
    const isDoubtful = doPointsMeet(KEYS[key]!, u1, u2);
    const forged = isDoubtful ? forgeriesOf(key, u1, u2) : [];
    const valid: Case = { ...crafted(key, u1, u2), isDoubtful };
    return [valid, { ...otherParity(valid), isDoubtful }, ...forged.map((one) => ({ ...one, isDoubtful }))];
  }).flat();
}

function multiple(): bigint {
  const edge = MULTIPLES[randomInt(MULTIPLES.length)]!;
  return [edge, edge, 1n + BigInt(randomInt(2 ** 16)), 1n + modulo(randomNumber(), N - 1n)][randomInt(4)]!;
}

function nextCase(rare: readonly Case[]): Case {
  const kind = randomInt(10);
  if (kind < 2) return rare[randomInt(rare.length)]!;
  const key = randomInt(keys.length);
  const digest = kind === 2 ? DIGESTS[randomInt(DIGESTS.length)]! : randomBytes(32);
  const { signature, recovery } = secp256k1.sign(digest, keys[key]!);
  const signed: Case = { key, digest, rs: signature, recovery };
  return kind < 7 ? signed : damaged(signed);
}

/** Returns the signature with one part changed. The result is almost certainly invalid. */
function damaged(signed: Case): Case {
  const rs = Buffer.from(signed.rs);
  switch (randomInt(6)) {
    case 0:
      return otherParity(signed);
    case 1:
      return { ...signed, key: randomInt(keys.length) };
    case 2:
      return { ...signed, digest: DIGESTS[randomInt(DIGESTS.length)]! };
    case 3:
      rs.set(inGroup(), 32 * randomInt(2));
      return { ...signed, rs };
    case 4:
      // Changes a bit of r or s. The highest bits stay unchanged, so r and s stay below the order.
      rs[32 * randomInt(2) + 1 + randomInt(31)]! ^= 1 << randomInt(8);
      return { ...signed, rs };
    default:
      rs.set(word(N - BigInt(`0x${rs.toString('hex', 32)}`)), 32);
      return randomInt(2) === 0 ? { ...signed, rs } : otherParity({ ...signed, rs });
  }
}

function inGroup(): Buffer {
  return word(1n + modulo(randomNumber(), N - 1n));
}

function randomNumber(): bigint {
  return BigInt(`0x${randomBytes(32).toString('hex')}`);
}

function describe({ key, digest, rs, recovery }: Case): string {
  const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
  return `key ${hex(keys[key]!)} digest ${hex(digest)} signature ${hex(rs)} ${recovery}`;
}
