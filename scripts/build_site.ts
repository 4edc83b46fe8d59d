import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { SITE } from '../src/server/live_page/page_files.js';
import { readReference } from './build_reference.js';
import { BuiltFolder, FOR_BROWSERS } from './built_folder.js';
import { licencesOf } from './licences.js';
import { renderClientReference } from './site/client_sections.js';
import { COPIED_FOLDERS, INDEX, type Part, SITE_GROUPS, type SitePage } from './site/contents.js';
import { describedDocuments } from './site/described_routes.js';
import { type Html, html } from './site/html.js';
import { linkTarget, renderMarkdown, slugsOf, splitSections } from './site/markdown.js';
import { framePage, headingsOf, renderCards } from './site/page_frame.js';
import {
  renderChannels,
  renderOperations,
  renderRestBasics,
  renderSchemas,
} from './site/reference_sections.js';
import { writeSearchIndex } from './site/search_index.js';

// Writes the documents into `dist/site`: a static site, which the service serves under `/docs/` and which any other web server can serve.
// `scripts/compile.mjs` runs this program.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const SOURCE = join(ROOT, 'scripts/site');
const PAGES = [INDEX, ...SITE_GROUPS.flatMap(({ pages }) => pages)];

const { version } = JSON.parse(read('package.json')) as { version: string };
const documents = describedDocuments();
const reference = readReference();
const addresses = linkAddresses();
const copied = new Map<string, string>();
await buildSite();

async function buildSite(): Promise<void> {
  const built = new BuiltFolder(SITE.folder, ['gzip']);
  const pages = PAGES.map((page) => ({ page, body: renderBody(page) }));
  for (const { page, body } of pages) built.write(`${page.name}.html`, framePage(page, body, version));
  built.write(
    'search_index.js',
    writeSearchIndex(pages.map(({ page: { name, title }, body }) => ({ name, title, body: body.text }))),
  );
  for (const [name, file] of copied) built.write(name, read(file));
  const [script, style, licences] = await bundle();
  built.write('site.js', script);
  built.write('site.css', style);
  built.write('licences.txt', licences);
  built.write('icon.svg', read('src/client/page/icon.svg'));
  built.finish();
}

/** Bundles the page's script and its style. The script is no module, because a page that was opened as a file may not load modules. */
async function bundle(): Promise<readonly [script: string, style: string, licences: string]> {
  const { outputFiles, metafile } = await build({
    ...FOR_BROWSERS,
    absWorkingDir: ROOT,
    entryPoints: [join(SOURCE, 'browser/site.ts'), join(SOURCE, 'site.css')],
    outdir: SITE.folder.pathname,
    format: 'iife',
  });
  const textOf = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))!.text;
  return [textOf('.js'), textOf('.css'), licencesOf(ROOT, metafile)];
}

function renderBody(page: SitePage): Html {
  const body = html`${page.parts.map(renderPart)}${page === INDEX ? renderCards() : undefined}`;
  const ids = headingsOf(body.text).map(({ id }) => id);
  if (new Set(ids).size < ids.length) throw new Error(`two headings of ${page.name} have one fragment`);
  return body;
}

function renderPart(part: Part): Html {
  if ('operations' in part) return renderOperations(documents, part.operations);
  if ('channels' in part) return renderChannels(documents, part.channels);
  if ('file' in part) return renderFile(part.file, part.sections);
  if ('client' in part) return renderClientReference(reference, part.client);
  return part.generated === 'basics' ? renderRestBasics(documents) : renderSchemas(documents);
}

function renderFile(file: string, wanted: readonly string[] | undefined): Html {
  return renderMarkdown(textOf(file, wanted), (href) => addressOf(file, href));
}

function textOf(file: string, wanted: readonly string[] | undefined): string {
  const sections = splitSections(read(file));
  const chosen = wanted ?? [...sections.keys()];
  const missing = chosen.find((title) => !sections.has(title));
  if (missing !== undefined) throw new Error(`${file} has no section ${missing}`);
  return chosen.map((title) => sections.get(title)).join('\n');
}

/** Maps each heading of the pages of the repository to its address in the site. */
function linkAddresses(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { name, parts } of PAGES)
    for (const part of parts) {
      if (!('file' in part)) continue;
      const add = (key: string, address: string) => found.has(key) || found.set(key, address);
      add(part.file, `${name}.html`);
      for (const slug of slugsOf(textOf(part.file, part.sections)))
        add(`${part.file}#${slug}`, `${name}.html#${slug}`);
    }
  return found;
}

/** Returns the address of a link; `undefined` if the site does not have its target. */
function addressOf(file: string, href: string): string | undefined {
  if (/^https?:/.test(href)) return href;
  const [path, fragment] = linkTarget(file, href);
  const address = addresses.get(fragment === undefined ? path : `${path}#${fragment}`);
  if (address !== undefined || !COPIED_FOLDERS.some((folder) => path.startsWith(folder))) return address;
  if (path.endsWith('/') || !existsSync(join(ROOT, path))) return undefined;
  const name = `files/${basename(path)}.txt`;
  copied.set(name, path);
  return name;
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
