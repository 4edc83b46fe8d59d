import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { PAGE_PATHS } from '../../wire/paths.js';

/** A file of the live page or of the site of documents. */
export interface PageFile {
  readonly contentType: string;
  /** The ETag in quotes, as HTTP writes it. */
  readonly etag: string;
  /** True when the file's path contains a hash of its contents. */
  readonly isImmutable: boolean;
  /** The contents by `Content-Encoding`. `identity` is always present. */
  readonly bodies: Readonly<Partial<Record<Encoding, Uint8Array>>> & { readonly identity: Uint8Array };
}

/** The encodings, in the order of preference. */
export const ENCODINGS = ['br', 'gzip', 'identity'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The endings of the names of encoded files, which are beside the plain files. */
export const ENCODED_ENDINGS = { br: '.br', gzip: '.gz' } as const;

/** A folder that the build writes, and the paths under which the service serves it. */
export interface PageFolder {
  readonly folder: URL;
  /** The path of `index.html`. */
  readonly home: string;
  /** The start of the paths of all other files. */
  readonly files: string;
}

/** The live page: `dist/page`. `scripts/build_page.ts` makes its files. */
export const LIVE_PAGE = {
  folder: new URL('../../../page/', import.meta.url),
  home: PAGE_PATHS.home,
  files: PAGE_PATHS.files,
} as const satisfies PageFolder;

/** The site of documents: `dist/site`. `scripts/build_site.ts` makes its files. */
export const SITE = {
  folder: new URL('../../../site/', import.meta.url),
  home: PAGE_PATHS.documents,
  files: PAGE_PATHS.documents,
} as const satisfies PageFolder;

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
  txt: 'text/plain; charset=utf-8',
};

/** The end of a name that contains a hash of the contents. */
const HASHED = /-(?:[0-9a-f]{12}|[0-9A-Z]{8})\.\w+$/;

/**
 * Reads built folders into memory.
 * @returns the files by path; without a build the map is empty
 */
export function loadPages(folders: readonly PageFolder[] = [LIVE_PAGE, SITE]): ReadonlyMap<string, PageFile> {
  return new Map(folders.flatMap(readFolder));
}

function readFolder({ folder, home, files }: PageFolder): [string, PageFile][] {
  const names = new Set(namesIn(folder));
  return [...names].flatMap((name): [string, PageFile][] => {
    const contentType = TYPES[name.split('.').at(-1)!];
    if (contentType === undefined) return [];
    const identity = readFileSync(new URL(name, folder));
    const encoded = Object.entries(ENCODED_ENDINGS).flatMap(([encoding, ending]) =>
      names.has(name + ending) ? [[encoding, readFileSync(new URL(name + ending, folder))]] : [],
    );
    const hash = createHash('sha256').update(identity).digest('base64url').slice(0, 22);
    const file = {
      contentType,
      etag: `"${hash}"`,
      isImmutable: HASHED.test(name),
      bodies: { ...Object.fromEntries(encoded), identity },
    };
    return [[name === 'index.html' ? home : files + name, file]];
  });
}

function namesIn(folder: URL): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
