import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { OutputFile } from '../../src/cli/output_file.js';

function emptyFolder(t: Test): string {
  const dir = t.testdir();
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

test('an output that cannot be a file is refused at once', async (t) => {
  const dir = emptyFolder(t);
  await t.rejects(OutputFile.open(''), { message: 'the output has no name' });
  await t.rejects(OutputFile.open(dir), { message: `${dir} is a folder` });
  await t.rejects(OutputFile.open('-'), { message: /^the output has no name; / });
  const missing = join(dir, 'missing', 'rows.csv');
  await t.rejects(OutputFile.open(missing), {
    message: `${missing} cannot be written: its folder does not exist; make it first (mkdir -p)`,
  });
  t.same(readdirSync(dir), []);
  writeFileSync(join(dir, 'file'), '');
  await t.rejects(OutputFile.open(join(dir, 'file', 'rows.csv')), {
    message: /above it is not a folder; choose another path$/,
  });
});
