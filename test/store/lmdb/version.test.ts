import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { test } from 'tap';
import { LMDB_VERSION } from '../../../src/store/lmdb/page_tree.js';

const require = createRequire(import.meta.url);

/**
 * Reads the version of lmdb. lmdb does not export its package.json, so the function searches for the file upwards from lmdb's
 * entry point.
 */
function installedVersion(): string {
  let folder = dirname(require.resolve('lmdb'));
  for (;;) {
    try {
      const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      if (name === 'lmdb') return version;
    } catch {
      // The search continues in the parent folder.
    }
    if (folder === dirname(folder)) throw new Error('lmdb is not installed');
    folder = dirname(folder);
  }
}

test('the pages of the lmdb that is installed are as they were read: compare mdb.c before another version', async (t) => {
  t.equal(installedVersion(), LMDB_VERSION);
  const { dependencies } = JSON.parse(
    readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'),
  );
  t.equal(dependencies.lmdb, LMDB_VERSION, 'and pinned');
});
