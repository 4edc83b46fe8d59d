import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import subsetFont from 'subset-font';
import { LIVE_PAGE } from '../src/server/live_page/page_files.js';
import { BuiltFolder, FOR_BROWSERS } from './built_folder.js';
import { licencesOf } from './licences.js';

// Bundles the live page into `dist/page`, and compresses each file. `scripts/compile.mjs` runs this program.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SOURCE = join(ROOT, 'src/client/page');
const HASH_DIGITS = 12;

/** The notice of Lightweight Charts. The licence requires this notice, and the package does not contain it. */
const CHARTS_NOTICE = `TradingView Lightweight Charts™
Copyright (c) 2025 TradingView, Inc. https://www.tradingview.com/`;

/** The package of the typeface, and its file with the Latin letters in all weights. */
const FONT = { name: '@fontsource-variable/inter', file: 'files/inter-latin-wght-normal.woff2' };
/** The characters of the page's own texts. The system's typeface shows the others, such as those of an asset's name. */
const FONT_TEXT = `${String.fromCharCode(...Array.from({ length: 95 }, (_, i) => 32 + i))}·–—…−×“”‘’°€£¥←→↑↓`;
const FONT_WEIGHTS = { wght: { min: 400, max: 600 } };

/** The source files, by the names in the HTML. */
const PROGRAMS = { page: 'main.ts', worker: 'page_worker.ts' };

const OPTIONS = { ...FOR_BROWSERS, absWorkingDir: ROOT, format: 'esm' } as const;

const built = new BuiltFolder(LIVE_PAGE.folder, ['br', 'gzip']);
await buildPage();

async function buildPage(): Promise<void> {
  const { scripts, metafile } = await bundleScripts();
  const { outputFiles } = await build({
    ...OPTIONS,
    entryPoints: [join(SOURCE, 'page.css')],
    external: ['*.woff2'],
  });
  const font = store('inter.woff2', await bundleFont());
  // Each copy of the typeface must include its licence.
  const inputs = {
    ...metafile.inputs,
    [`node_modules/${FONT.name}/${FONT.file}`]: { bytes: 0, imports: [] },
  };
  const paths: Readonly<Record<string, string>> = {
    ...scripts,
    'boot.js': store('boot.js', await bundleBoot()),
    'inter.woff2': font,
    'page.css': store('page.css', outputFiles[0]!.text.replace('inter.woff2', font)),
    'icon.svg': store('icon.svg', source('icon.svg')),
    'licences.txt': store('licences.txt', licencesOf(ROOT, { inputs }, [CHARTS_NOTICE])),
  };
  const page = source('index.html').replace(/"([\w.]+)"/g, (quoted, name: string) =>
    name in paths ? `"${paths[name]}"` : quoted,
  );
  built.write('index.html', page);
  built.finish();
}

/** Bundles the page's program and the workers' program. A third file contains the code that both import. */
async function bundleScripts() {
  const { outputFiles, metafile } = await build({
    ...OPTIONS,
    entryPoints: Object.entries(PROGRAMS).map(([out, file]) => ({ in: join(SOURCE, file), out })),
    entryNames: '[name]-[hash]',
    chunkNames: 'shared-[hash]',
    outdir: LIVE_PAGE.folder.pathname,
    splitting: true,
  });
  const scripts: Record<string, string> = {};
  for (const { path, text } of outputFiles) {
    const file = basename(path);
    built.write(file, text);
    scripts[file.replace(/-\w+\.js$/, '.js')] = LIVE_PAGE.files + file;
  }
  return { scripts, metafile };
}

/** Makes the part of the typeface that the page uses, with its tabular figures. */
function bundleFont(): Promise<Buffer> {
  const whole = readFileSync(join(ROOT, 'node_modules', FONT.name, FONT.file));
  return subsetFont(whole, FONT_TEXT, { targetFormat: 'woff2', variationAxes: FONT_WEIGHTS });
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
function store(name: string, content: string | Buffer): string {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, HASH_DIGITS);
  const file = name.replace('.', `-${hash}.`);
  built.write(file, content);
  return LIVE_PAGE.files + file;
}

function source(name: string): string {
  return readFileSync(join(SOURCE, basename(name)), 'utf8');
}
