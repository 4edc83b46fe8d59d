import { chmodSync, chownSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Test, test } from 'tap';
import { loadProgram } from '../../src/cli/stored_code.js';

interface Exports {
  readonly answer: () => string;
  readonly load: () => { readonly sep: string };
}

/** Returns the source of a program with this answer. All answers of one length make sources of one length. */
const sourceOf = (answer: string) =>
  `exports.answer = () => '${answer}'; exports.load = () => require('node:path');`;

function makeProgram(t: Test, answer = 'good') {
  const root = t.testdir({ 'program.cjs': sourceOf(answer) });
  const file = join(root, 'program.cjs');
  const folder = join(root, 'code/program');
  const load = () => loadProgram<Exports>(file, folder);
  const files = () => readdirSync(folder).map((name) => join(folder, name));
  /** Runs the program as a start does, and stores its code. @returns its answer */
  const start = () => {
    const { exports, storeCode } = load();
    const given = exports.answer();
    storeCode();
    return given;
  };
  return { file, folder, load, files, start };
}

test('a start stores the compiled code, and later starts use it', (t) => {
  const { load, files, start } = makeProgram(t);
  t.equal(start(), 'good');
  const [stored, ...others] = files();
  t.same(others, []);
  const { ino } = statSync(stored!);
  t.equal(start(), 'good');
  t.equal(statSync(stored!).ino, ino, 'the code is not stored again');
  t.equal(load().exports.load().sep, '/', 'stored code can load modules');
  t.end();
});

test('code of another source is not used', (t) => {
  const { file, start } = makeProgram(t, 'old.');
  t.equal(start(), 'old.');
  writeFileSync(file, sourceOf('new.'));
  t.equal(start(), 'new.');
  t.equal(start(), 'new.');
  t.end();
});

test('damaged code is not used, and the start stores it again', (t) => {
  const { files, start } = makeProgram(t);
  start();
  const file = files()[0]!;
  const bytes = readFileSync(file);
  for (const damaged of [
    Buffer.alloc(0),
    Buffer.alloc(bytes.length),
    bytes.subarray(0, -8),
    flipped(bytes),
  ]) {
    writeFileSync(file, damaged);
    t.equal(start(), 'good');
    t.notSame(readFileSync(file), damaged);
  }
  t.end();
});

function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[copy.length >> 1]! ^= 1;
  return copy;
}

test('code that another user could write is not used', (t) => {
  const { file, folder, files, start } = makeProgram(t, 'evil');
  start();
  const stored = files()[0]!;
  const evil = readFileSync(stored);
  evil.writeUInt32BE(crc32(evil.subarray(4), crc32(sourceOf('good'))));
  writeFileSync(stored, evil);
  writeFileSync(file, sourceOf('good'));
  t.equal(start(), 'evil', 'V8 runs stored code without a look at the source, so this is an attack');

  chmodSync(folder, 0o777);
  t.equal(start(), 'good');
  t.same(readFileSync(stored), evil, 'nothing is stored in such a folder');
  chmodSync(folder, 0o755);
  chmodSync(stored, 0o664);
  t.equal(start(), 'good');
  writeFileSync(stored, evil);
  if (process.getuid?.() === 0) {
    chownSync(stored, 12_345, 12_345);
    t.equal(start(), 'good');
    writeFileSync(stored, evil);
    chownSync(folder, 12_345, 12_345);
    t.equal(start(), 'good');
  }
  t.end();
});

test('a folder that cannot be written changes nothing', (t) => {
  const { file } = makeProgram(t);
  const { exports, storeCode } = loadProgram<Exports>(file, join(file, 'code'));
  t.equal(exports.answer(), 'good');
  t.doesNotThrow(storeCode);
  t.end();
});
