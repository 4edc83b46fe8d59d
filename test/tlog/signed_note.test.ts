import { test } from 'tap';
import { verifyByWebCrypto } from '../../src/tlog/ed25519.js';
import { Ed25519Key, verifyByNode } from '../../src/tlog/ed25519_key.js';
import { cosignedBytes, verifySignatures } from '../../src/tlog/note_keys.js';
import {
  formatNote,
  NOTE_SIGNATURES_MAX,
  parseNote,
  parseSignatureLines,
} from '../../src/tlog/signed_note.js';
import { TlogError } from '../../src/tlog/tlog_error.js';
import { formatCheckpoint, parseCheckpoint } from '../../src/tlog/tree_checkpoint.js';
import { formatVerifierKey, parseVerifierKey } from '../../src/tlog/verifier_key.js';
import { TESSERA_CHECKPOINT, TESSERA_KEY } from './small_log.js';

const FOO = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
const NOTE = `This is an example message.

— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=
`;
const LINE = NOTE.split('\n')[2]!;
const seed = (byte: number) => new Uint8Array(32).fill(byte);

test('known notes verify, by Node and by WebCrypto', async (t) => {
  for (const verify of [verifyByNode, verifyByWebCrypto]) {
    const foo = parseVerifierKey(FOO);
    t.same(await verifySignatures(parseNote(NOTE), [foo], verify), [{ key: foo }]);
    const tessera = parseVerifierKey(TESSERA_KEY);
    t.same(await verifySignatures(parseNote(TESSERA_CHECKPOINT), [foo, tessera], verify), [{ key: tessera }]);
    t.same(await verifySignatures(parseNote(NOTE), [tessera], verify), [], 'a line of another key');
    const renamed = parseNote(NOTE.replace('— example.com/foo', '— example.com/fop'));
    t.same(await verifySignatures(renamed, [foo], verify), [], 'the ID of the key under another name');
    const changed = parseNote(NOTE.replace('example message', 'Example message'));
    await t.rejects(verifySignatures(changed, [foo], verify), {
      name: 'TlogError',
      message: 'the signature of example.com/foo does not verify',
    });
  }
  t.equal(parseNote(NOTE).text, 'This is an example message.\n');
  t.equal(formatNote(parseNote(NOTE)), NOTE);
  for (const text of [FOO, TESSERA_KEY]) t.equal(formatVerifierKey(parseVerifierKey(text)), text);
});

test('malformed notes are refused', async (t) => {
  const wrong: readonly (string | Uint8Array)[] = [
    '',
    'text\n\n',
    NOTE.slice(0, -1),
    NOTE.replace('\n\n', '\n'),
    NOTE.replace('—', '-'),
    NOTE.replace('example.com/foo ', ''),
    NOTE.replace('example.com/foo', 'example.com\u00a0foo'),
    NOTE.replace('aQM=', 'aQN='),
    NOTE.replace('aQM=\n', 'aQM=\r\n'),
    NOTE.replace('message', 'mess\u0000age'),
    Buffer.concat([Buffer.of(0xff), Buffer.from(NOTE)]),
    `${NOTE}\n`,
    `${NOTE}no signature line\n`,
    NOTE + `${LINE}\n`.repeat(NOTE_SIGNATURES_MAX),
    'x'.repeat(600_000) + NOTE,
  ];
  for (const note of wrong) t.throws(() => parseNote(note), TlogError, String(note).slice(0, 60));
  t.same(parseNote(`\ufeffa\n\n\n${LINE}\n`).text, '\ufeffa\n\n', 'the text may end with empty lines');
  t.throws(() => parseSignatureLines('x'), TlogError);
});

test('malformed keys are refused', async (t) => {
  for (const text of [
    '',
    'a+b+c',
    FOO.replace('530d903a', '530D903A'),
    FOO.replace('foo+', 'fop+'),
    FOO.slice(0, -4),
    FOO.replace('+Aek', '+Bek'),
    ` ${FOO}`,
  ])
    t.throws(() => parseVerifierKey(text), TlogError, text);
  t.throws(() => new Ed25519Key(seed(3)).logKey('a b'), TlogError);
});

test('cosignatures cover the time and the whole checkpoint', async (t) => {
  const log = new Ed25519Key(seed(1));
  const witness = new Ed25519Key(seed(2));
  const { text } = parseNote(TESSERA_CHECKPOINT);
  const lines = [log.sign('log.example', text), witness.cosign('w.example', text, 1_795_298_519n)];
  const note = parseNote(formatNote({ text, signatures: lines }));
  const keys = [log.logKey('log.example'), witness.witnessKey('w.example')];
  t.same(await verifySignatures(note, keys, verifyByNode), [
    { key: keys[0] },
    { key: keys[1], timeS: 1_795_298_519n },
  ]);
  t.equal(note.signatures[1]!.blob.length + 4, 76);
  t.equal(Buffer.from(cosignedBytes('a\n', 5n)).toString(), 'cosignature/v1\ntime 5\na\n');
  const later = note.signatures[1]!.blob.slice();
  later[7]! ^= 1;
  for (const blob of [later, later.subarray(8)]) {
    const forged = { text, signatures: [{ ...note.signatures[1]!, blob }] };
    await t.rejects(verifySignatures(forged, keys, verifyByNode), TlogError, 'another time, and none');
  }
});

test('malformed checkpoints are refused', async (t) => {
  const { text } = parseNote(TESSERA_CHECKPOINT);
  const checkpoint = parseCheckpoint(text);
  t.match(checkpoint, { origin: 'example.com/log/testdata', size: 15n, extensions: [] });
  t.equal(formatCheckpoint(checkpoint), text);
  t.same(parseCheckpoint(`${text}more\n`).extensions, ['more']);
  for (const wrong of [
    '',
    text.slice(0, -1),
    `${text}\n`,
    text.replace('example.com/log/testdata', ''),
    text.replace('15', '015'),
    text.replace('15', '9223372036854775808'),
    text.replace('15', '0'),
    text.replace('3cs=', '3ct='),
    text.split('\n').slice(0, 2).join('\n'),
  ])
    t.throws(() => parseCheckpoint(wrong), TlogError, wrong);
});

test('a mutated note does not verify, and throws nothing but the named error', async (t) => {
  const key = parseVerifierKey(TESSERA_KEY);
  const original = Buffer.from(TESSERA_CHECKPOINT);
  const faults: string[] = [];
  const check = async (bytes: Uint8Array, name: string) => {
    try {
      const note = parseNote(bytes);
      const verified = await verifySignatures(note, [key], verifyByNode);
      if (verified.length > 0 && note.text !== parseNote(original).text) faults.push(name);
      parseCheckpoint(note.text);
    } catch (error) {
      if (!(error instanceof TlogError)) faults.push(`${name}: ${error}`);
    }
  };
  for (let at = 0; at < original.length; at += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const bytes = Buffer.from(original);
      bytes[at]! ^= 1 << bit;
      await check(bytes, `bit ${bit} of byte ${at}`);
    }
    await check(original.subarray(0, at), `cut at ${at}`);
  }
  t.same(faults, []);
});
