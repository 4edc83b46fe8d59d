import { statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { dataFolderProblem, makeFolder } from '../../../src/log/store/data_folder.js';
import { openStore } from '../../../src/log/store/store.js';
import { storeOptions } from './sample.js';

test('a folder that can be used, or made, has no problem, and looking makes nothing', async (t) => {
  const dir = t.testdir({ there: {}, link: t.fixture('symlink', 'there') });
  for (const name of ['there', 'link', 'new', 'new/and/deep']) {
    t.equal(dataFolderProblem(join(dir, name)), undefined, name);
    makeFolder(join(dir, name));
    t.ok(statSync(join(dir, name)).isDirectory(), name);
  }
  t.equal(statSync(join(dir, 'new/and')).mode & 0o777, 0o700);
  t.equal(dataFolderProblem(join(dir, 'other')), undefined);
  t.throws(() => statSync(join(dir, 'other')), { code: 'ENOENT' });
});

test('what cannot hold the data is refused at once, with the path and its key', async (t) => {
  const dir = t.testdir({ file: '' });
  symlinkSync('nowhere', join(dir, 'dangling'));
  symlinkSync('circle', join(dir, 'circle'));
  const cases: [string, RegExp][] = [
    [join(dir, 'file'), /file is not a folder/],
    [join(dir, 'file/below/it'), /file is not a folder/],
    [join(dir, 'dangling'), /dangling is a link to something that does not exist/],
    [join(dir, 'circle'), /leads to itself/],
    [join(dir, 'x'.repeat(300)), /longer than the file system allows/],
  ];
  if (process.platform === 'linux')
    cases.push(['/proc/tickseal/data', /no room for files|no permission|may not/]);
  for (const [path, reason] of cases) {
    t.match(dataFolderProblem(path), reason, path);
    t.throws(() => makeFolder(path), path);
    const refused = await openStore(storeOptions(path)).then(
      () => 'opened',
      (error: Error) => error.message,
    );
    t.ok(refused.startsWith(`storage.dir: the data folder ${path} cannot be opened: `), refused);
    t.match(refused, reason);
  }
});
