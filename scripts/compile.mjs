import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import './flatc.mjs';

// Compiles each TypeScript module into `dist`, without type checks, and bundles the programs and the live page, and builds the site of documents. The program keeps outputs
// that are newer than their sources, so a start after an installation compiles nothing. The program is plain JavaScript, because it runs
// before any compilation.

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const FOLDERS = ['src', 'test', 'bench', 'scripts'];
/** The files on which each output depends. */
const MAKERS = ['scripts/compile.mjs', 'package-lock.json', 'tsconfig.json'];
/** The programs that Node runs as processes and threads of the service. The bundle of each program replaces its module. */
const PROGRAMS = [
  'src/cli/main.ts',
  'src/cli/demo/simulated_publishers.ts',
  'src/clock/precise_timer_worker.ts',
  'src/crypto/pool/worker.ts',
  'src/service/edge/threads/thread_main.ts',
];
/** The files that a build of the page and of the site writes. */
const PAGE_OUTPUTS = ['dist/page/index.html', 'dist/site/index.html'];

const madeMs = Math.max(...MAKERS.map(changedMs));
const sources = FOLDERS.flatMap(filesOf);
const stale = sources.filter(
  (file) =>
    /(?<!\.d)\.ts$/.test(file) &&
    !PROGRAMS.includes(file) &&
    changedMs(outputOf(file)) <= Math.max(changedMs(file), madeMs),
);
if (stale.length > 0) {
  const { build } = await loadEsbuild();
  await build({
    absWorkingDir: ROOT,
    entryPoints: stale,
    outdir: 'dist',
    outbase: '.',
    format: 'esm',
    target: 'es2023',
    sourcemap: true,
    logLevel: 'warning',
  });
}
// The modules of deleted sources would still be found by tests and packages.
for (const output of FOLDERS.flatMap((folder) => filesOf(`dist/${folder}`))) {
  const source = output.slice('dist/'.length).replace(/\.(?:js|js\.map|d\.ts)$/, '.ts');
  if (!source.startsWith('src/bundle/') && !existsSync(join(ROOT, source))) rmSync(join(ROOT, output));
}
const builtMs = Math.min(...PROGRAMS.map(outputOf).map(changedMs));
const bundled = sources.filter((file) => /^(?:src|scripts\/(?:build_programs|licences))/.test(file));
if (builtMs <= Math.max(...bundled.map(changedMs), madeMs)) {
  const { buildPrograms } = await import('../dist/scripts/build_programs.js');
  await buildPrograms(ROOT, PROGRAMS);
}
const pageSources = [
  'README.md',
  'package.json',
  ...sources.filter((file) => /^(?:src|scripts)\//.test(file)),
];
const isPageStale =
  Math.min(...PAGE_OUTPUTS.map(changedMs)) <= Math.max(...pageSources.map(changedMs), madeMs);
if (isPageStale) {
  await import('../dist/scripts/build_page.js');
  await import('../dist/scripts/build_site.js');
}
const { writeCommit } = await import('../dist/scripts/build_commit.js');
writeCommit(ROOT);

/** Loads esbuild. An installation without development dependencies lacks it. */
async function loadEsbuild() {
  try {
    return await import('esbuild');
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    console.error('esbuild, which compiles the modules, is missing: install it with `npm ci --include=dev`.');
    process.exit(1);
  }
}

/** Lists the files below a folder, as paths from the root. The image's build may lack a folder. */
function filesOf(folder) {
  if (!existsSync(join(ROOT, folder))) return [];
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(ROOT.length));
}

function outputOf(file) {
  return `dist/${file.replace(/\.ts$/, '.js')}`;
}

/** Returns the modification time of a file; minus infinity if the file does not exist. */
function changedMs(file) {
  return statSync(join(ROOT, file), { throwIfNoEntry: false })?.mtimeMs ?? Number.NEGATIVE_INFINITY;
}
