import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { OutputFile } from '../../src/cli/output_file.js';

function emptyFolder(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-output-'));
  t.teardown(() => rmSync(dir, { recursive: true }));
  return dir;
}

test('a file has its name when it is whole, and a dropped file leaves the earlier one', async (t) => {
  const dir = emptyFolder(t);
  const path = join(dir, 'rows.csv');
  for (const text of ['first', 'second']) {
    const file = await OutputFile.open(path);
    await file.write(Buffer.from(text));
    t.notMatch(readdirSync(dir).includes('rows.csv') && readFileSync(path, 'utf8'), text, 'not whole yet');
    await file.finish();
    t.equal(readFileSync(path, 'utf8'), text);
  }
  const dropped = await OutputFile.open(path);
  await dropped.write(Buffer.from('third'));
  await dropped.drop();
  t.same(readdirSync(dir), ['rows.csv']);
  t.equal(readFileSync(path, 'utf8'), 'second');
});

test('a link stays, and its target is replaced', async (t) => {
  const dir = emptyFolder(t);
  writeFileSync(join(dir, 'target'), 'old');
  symlinkSync('target', join(dir, 'link'));
  const file = await OutputFile.open(join(dir, 'link'));
  await file.write(Buffer.from('new'));
  await file.finish();
  t.ok(lstatSync(join(dir, 'link')).isSymbolicLink());
  t.equal(readFileSync(join(dir, 'target'), 'utf8'), 'new');
  t.same(readdirSync(dir).sort(), ['link', 'target']);
});

test('an output that is no regular file is written directly, and stays', {
  skip: process.platform === 'win32',
}, async (t) => {
  const path = join(emptyFolder(t), 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = spawn('cat', [path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(reader, 'exit');
  let text = '';
  reader.stdout.on('data', (bytes: Buffer) => {
    text += bytes.toString();
  });
  const file = await OutputFile.open(path);
  await file.write(Buffer.from('rows'));
  await file.finish();
  await ended;
  t.equal(text, 'rows');
  t.ok(lstatSync(path).isFIFO());
});

test('an output that cannot be a file is refused at once', async (t) => {
  const dir = emptyFolder(t);
  await t.rejects(OutputFile.open(''), { message: 'the output has no name' });
  await t.rejects(OutputFile.open(dir), { message: `${dir} is a folder` });
  await t.rejects(OutputFile.open('-'), { message: /^the output has no name; / });
  const missing = join(dir, 'missing', 'rows.csv');
  await t.rejects(OutputFile.open(missing), {
    message: `${missing} cannot be written: its folder does not exist`,
  });
  t.same(readdirSync(dir), []);
  writeFileSync(join(dir, 'file'), '');
  await t.rejects(OutputFile.open(join(dir, 'file', 'rows.csv')), { message: /above it is not a folder$/ });
});
