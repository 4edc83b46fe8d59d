import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { WitnessFolder } from '../../../src/publiclog/witness/witness_folder.js';
import { formatAddCheckpoint } from '../../../src/tlog/add_checkpoint.js';
import { Ed25519Key, verifyByNode } from '../../../src/tlog/ed25519_key.js';
import { verifySignatures } from '../../../src/tlog/note_keys.js';
import { formatNote, parseNote, parseSignatureLines } from '../../../src/tlog/signed_note.js';
import { formatCheckpoint } from '../../../src/tlog/tree_checkpoint.js';
import { emptyRoot } from '../../../src/tlog/tree_hash.js';
import { SigningLog } from '../../tlog/signing_log.js';
import { LOG, LOG_ORIGIN, WITNESSES } from '../../tlog/witnessed_log.js';
import { addCheckpoint, emptyFolder, openWitness } from './small_witness.js';

const OWN_KEY = WITNESSES[0]!.key.witnessKey(WITNESSES[0]!.name);
const log = new SigningLog(40);
const request = (older: number, note: string, proof: readonly Uint8Array[] = []) =>
  Buffer.from(formatAddCheckpoint({ older: BigInt(older), proof, note }));

test('a witness cosigns what continues the tree, and keeps it before it answers', async (t) => {
  const dir = emptyFolder(t);
  const witness = await openWitness(dir);
  for (const [older, size] of [
    [0, 3],
    [3, 3],
    [3, 40],
  ] as const) {
    const { status, body } = await addCheckpoint(witness, log, older, size);
    t.equal(status, 200, `${older} to ${size}`);
    const { text } = parseNote(log.note(size));
    const note = { text, signatures: parseSignatureLines(body) };
    const verified = await verifySignatures(note, [OWN_KEY], verifyByNode);
    t.same(verified, [{ key: OWN_KEY, timeS: 1_800_000_000n }]);
    const [name = ''] = readdirSync(dir);
    const kept = readFileSync(join(dir, name), 'utf8');
    t.match(kept, body, 'on disk');
    t.equal(witness.noteOf(name.slice(0, 64)), kept, 'monitored');
  }
  t.same(readdirSync(dir).length, 1);
});

test('every answer of the table', async (t) => {
  const dir = emptyFolder(t);
  const witness = await openWitness(dir);
  await addCheckpoint(witness, log, 0, 20);
  const other = new SigningLog(40, 2);
  const answers = async (body: Uint8Array) => {
    const { status, body: text, isSize } = await witness.addCheckpoint(body);
    return isSize ? `${status} ${text}` : status;
  };
  t.equal(await answers(request(19, log.note(30), log.prove(19n, 30n))), '409 20\n', 'not the last size');
  t.equal(await answers(request(31, log.note(30))), 400, 'the old size is above the size');
  t.equal(await answers(request(20, log.note(30))), 422, 'no proof');
  t.equal(await answers(request(20, log.note(30), log.prove(19n, 30n))), 422, 'another proof');
  t.equal(await answers(request(20, other.note(30), other.prove(20n, 30n))), 422, 'a fork');
  t.equal(await answers(request(20, other.note(20))), 422, 'another tree of this size');
  t.equal(await answers(request(20, log.note(20), log.prove(19n, 20n))), 422, 'a proof that is too much');
  const stranger = new Ed25519Key(new Uint8Array(32).fill(99));
  const { text } = parseNote(log.note(30));
  const noteBy = (key: Ed25519Key, origin: string, of = text) =>
    formatNote({ text: of, signatures: [key.sign(origin, of)] });
  t.equal(await answers(request(20, noteBy(stranger, LOG_ORIGIN))), 403, 'another key');
  const unknown = formatCheckpoint({ origin: 'other.example/tlog', size: 1n, root: emptyRoot() });
  t.equal(await answers(request(0, noteBy(LOG, 'other.example/tlog', unknown))), 404);
  const forged = log.note(30).replace('\n30\n', '\n31\n');
  t.equal(await answers(request(20, forged, log.prove(20n, 30n))), 403, 'a signature of another text');
  for (const body of [
    '',
    `old 020\n\n${log.note(30)}`,
    `size 20\n\n${log.note(30)}`,
    `old 20\nAAAA\n\n${log.note(30)}`,
    `old 20\n\n${text}`,
    `old 20\n${'47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n'.repeat(64)}\n${log.note(30)}`,
  ])
    t.equal(await answers(Buffer.from(body)), 400, JSON.stringify(body.slice(0, 40)));
  t.equal(await answers(Buffer.from([0xff, 0xfe, 0x0a, 0x0a])), 400, 'no UTF-8');
  const short = `${LOG_ORIGIN}\n30\n`;
  t.equal(await answers(request(20, noteBy(LOG, LOG_ORIGIN, short))), 400, 'no root');
  t.equal(await answers(request(20, log.note(30), log.prove(20n, 30n))), 200, 'the state is as before');
});

test('a restart goes on from the disk, and a damaged file stops it', async (t) => {
  const dir = emptyFolder(t);
  await addCheckpoint(await openWitness(dir), log, 0, 20);
  const [name = ''] = readdirSync(dir);
  writeFileSync(join(dir, `${name}.new`), 'the rest of a process that was killed');
  const again = await openWitness(dir);
  t.equal((await addCheckpoint(again, log, 0, 30)).status, 409);
  t.equal((await addCheckpoint(again, log, 20, 30)).status, 200);
  const kept = readFileSync(join(dir, name), 'utf8');
  const other = WITNESSES[1]!;
  for (const damaged of [kept.slice(0, 40), kept.replace('\n30\n', '\n31\n')]) {
    writeFileSync(join(dir, name), damaged);
    await t.rejects(openWitness(dir), { message: /is damaged/ });
  }
  writeFileSync(join(dir, name), kept);
  const rekeyed = await openWitness(dir, other);
  t.equal((await addCheckpoint(rekeyed, log, 20, 40)).status, 409, 'a new key of the witness');
});

test('nothing is cosigned that the disk did not take', async (t) => {
  const dir = emptyFolder(t);
  class FullFolder extends WitnessFolder {
    isFull = true;
    override async write(origin: string, note: string): Promise<void> {
      if (this.isFull) throw new Error('its file system is full');
      await super.write(origin, note);
    }
  }
  const folder = new FullFolder(dir);
  const refused: number[] = [];
  const witness = await openWitness(dir, { folder, onRefused: ({ status }) => refused.push(status) });
  const { status, body } = await addCheckpoint(witness, log, 0, 20);
  t.equal(status, 500);
  t.notMatch(body, '—');
  t.match(witness.fault, 'full');
  folder.isFull = false;
  t.equal((await addCheckpoint(witness, log, 0, 20)).status, 200);
  t.equal(witness.fault, undefined);
  t.same(refused, [500]);
});

test('of requests at once only one wins, and a log has its quota of a day', async (t) => {
  let nowMs = 0;
  const logs = [{ origin: LOG_ORIGIN, keys: [LOG.logKey(LOG_ORIGIN)], requestsPerDay: 6 }];
  const witness = await openWitness(emptyFolder(t), { logs, steadyMs: () => nowMs });
  const forked = new SigningLog(40, 1);
  const answers = await Promise.all([
    addCheckpoint(witness, log, 0, 20),
    addCheckpoint(witness, forked, 0, 20),
    addCheckpoint(witness, forked, 0, 21),
    addCheckpoint(witness, log, 0, 22),
  ]);
  t.same(
    answers.map(({ status }) => status),
    [200, 409, 409, 409],
  );
  const statusOf = async (size: number) => (await addCheckpoint(witness, log, size - 1, size)).status;
  t.same([await statusOf(21), await statusOf(22), await statusOf(23)], [200, 200, 429]);
  nowMs += 86_400_000 / 6;
  t.same([await statusOf(23), await statusOf(24)], [200, 429]);
});
