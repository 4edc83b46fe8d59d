import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { type BuildOptions, build } from 'esbuild';
import { PALETTE } from '../src/server/documents/reference_style.js';
import { MANIFEST_NAME, PAGE_FOLDER, type PageManifest } from '../src/server/live_page/page_files.js';
import { PAGE_PATHS } from '../src/wire/paths.js';
import { buildReference } from './build_reference.js';
import { licencesOf } from './licences.js';

// Bundles the live page into `dist/page`, compresses each file, and builds the reference of the client. `scripts/compile.mjs` runs this
// program.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SOURCE = join(ROOT, 'src/client/page');
const HASH_DIGITS = 12;
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
};

/** The notice of Lightweight Charts. The licence requires this notice, and the package does not contain it. */
const CHARTS_NOTICE = `TradingView Lightweight Charts™
Copyright (c) 2025 TradingView, Inc. https://www.tradingview.com/`;

/**
 * The folder of an unfinished page. The finished folder replaces {@link PAGE_FOLDER} at once, because a service that starts without the
 * folder serves no page.
 */
const UNFINISHED = new URL('../page.unfinished/', PAGE_FOLDER);

/** The source files, by the names in the HTML. */
const PROGRAMS = { page: 'main.ts', worker: 'page_worker.ts' };

const OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  format: 'esm',
  target: ['es2022', 'chrome114', 'firefox125', 'safari17'],
  legalComments: 'none',
  logLevel: 'warning',
} as const satisfies BuildOptions;

const manifest: Record<string, PageManifest[string]> = {};
await buildPage();
buildReference();

async function buildPage(): Promise<void> {
  rmSync(UNFINISHED, { recursive: true, force: true });
  mkdirSync(UNFINISHED, { recursive: true });
  const { scripts, metafile } = await bundleScripts();
  const { outputFiles } = await build({ ...OPTIONS, entryPoints: [join(SOURCE, 'page.css')] });
  const paths: Readonly<Record<string, string>> = {
    ...scripts,
    'boot.js': store('boot.js', await bundleBoot()),
    'page.css': store('page.css', PALETTE + outputFiles[0]!.text),
    'icon.svg': store('icon.svg', source('icon.svg')),
    'licences.txt': store('licences.txt', licencesOf(ROOT, metafile, [CHARTS_NOTICE])),
  };
  const page = source('index.html').replace(/"([\w.]+)"/g, (quoted, name: string) =>
    name in paths ? `"${paths[name]}"` : quoted,
  );
  write(PAGE_PATHS.home, 'index.html', page, false);
  writeFileSync(new URL(MANIFEST_NAME, UNFINISHED), JSON.stringify(manifest, undefined, 2));
  rmSync(PAGE_FOLDER, { recursive: true, force: true });
  renameSync(UNFINISHED, PAGE_FOLDER);
}

/** Bundles the page's program and the workers' program. A third file contains the code that both import. */
async function bundleScripts() {
  const { outputFiles, metafile } = await build({
    ...OPTIONS,
    entryPoints: Object.entries(PROGRAMS).map(([out, file]) => ({ in: join(SOURCE, file), out })),
    entryNames: '[name]-[hash]',
    chunkNames: 'shared-[hash]',
    outdir: PAGE_FOLDER.pathname,
    splitting: true,
  });
  const scripts: Record<string, string> = {};
  for (const { path, text } of outputFiles) {
    const file = basename(path);
    write(PAGE_PATHS.files + file, file, text, true);
    scripts[file.replace(/-\w+\.js$/, '.js')] = PAGE_PATHS.files + file;
  }
  return { scripts, metafile };
}

/** Bundles the script that runs before all others. The script imports no file, because a file that was refused is its reason to run. */
async function bundleBoot(): Promise<string> {
  const { outputFiles } = await build({
    ...OPTIONS,
    format: 'iife',
    entryPoints: [join(SOURCE, 'boot.ts')],
  });
  return outputFiles[0]!.text;
}

/**
 * Writes a file whose path contains a hash of its contents.
 * @returns the path
 */
function store(name: string, text: string): string {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, HASH_DIGITS);
  const file = name.replace('.', `-${hash}.`);
  const path = PAGE_PATHS.files + file;
  write(path, file, text, true);
  return path;
}

function write(path: string, file: string, text: string, isImmutable: boolean): void {
  const bytes = Buffer.from(text);
  writeFileSync(new URL(file, UNFINISHED), bytes);
  writeFileSync(new URL(`${file}.gz`, UNFINISHED), gzipSync(bytes, { level: 9 }));
  writeFileSync(new URL(`${file}.br`, UNFINISHED), brotliCompressSync(bytes));
  const hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
  manifest[path] = { file, contentType: TYPES[file.split('.').at(-1)!]!, etag: `"${hash}"`, isImmutable };
}

function source(name: string): string {
  return readFileSync(join(SOURCE, basename(name)), 'utf8');
}
