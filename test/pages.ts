import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's folder, with a slash at its end. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Returns the paths of the files below a folder of the project, relative to {@link ROOT}. @param name the pattern of their names */
export function filesBelow(folder: string, name: RegExp): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && name.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length).replaceAll('\\', '/'))
    .sort();
}

/** The paths of all documentation pages, relative to {@link ROOT}. */
export const PAGES = [
  'README.md',
  'src/README.md',
  'src/cli/README.md',
  'src/client/README.md',
  'src/client/examples/README.md',
  'src/client/solidity/README.md',
  'src/config/README.md',
  'src/server/README.md',
  'src/sources/README.md',
  'src/tlog/README.md',
  'bench/README.md',
  'scripts/deploy/CLUSTER.md',
  'scripts/deploy/COMPATIBILITY.md',
  'scripts/deploy/README.md',
  'scripts/torture/README.md',
] as const;

export type Page = (typeof PAGES)[number];

export function readPage(page: Page): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

/** Returns the text between the heading `## title` and the next heading of the same level. */
export function section(page: Page, title: string): string {
  const [, body] =
    new RegExp(`\\n## ${title}\\n([\\s\\S]*?)(?=\\n## |$(?![\\s\\S]))`).exec(readPage(page)) ?? [];
  if (body === undefined) throw new Error(`${page} has no section ${title}`);
  return body;
}

/** Returns the content of the code block whose first line ends with `tag`, such as `ts read.ts`. */
export function codeBlock(page: Page, tag: string): string {
  const [, code] = new RegExp(`\\n\`\`\`${tag}\\n([\\s\\S]*?)\`\`\`\\n`).exec(readPage(page)) ?? [];
  if (code === undefined) throw new Error(`${page} has no block ${tag}`);
  return code;
}

/** Returns the first cells of all tables in a text, if they contain only a name. */
export function firstCells(text: string): string[] {
  return [...text.matchAll(/^\| `([a-z-]+)` /gm)].map(([, name = '']) => name);
}
