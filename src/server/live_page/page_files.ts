import { readFileSync } from 'node:fs';

/** A file of the live page. `scripts/build_page.ts` makes these files. */
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

/** The endings of the names of encoded files. */
export const ENCODED_ENDINGS: Readonly<Record<Encoding, string>> = { br: '.br', gzip: '.gz', identity: '' };

/** The name of the list that the build writes into the folder of the files. */
export const MANIFEST_NAME = 'manifest.json';

/** The path and the storage of each file. */
export type PageManifest = Readonly<
  Record<
    string,
    {
      readonly file: string;
      readonly contentType: string;
      readonly etag: string;
      readonly isImmutable: boolean;
    }
  >
>;

/** The folder of the built page: `dist/page`. */
export const PAGE_FOLDER = new URL('../../../page/', import.meta.url);

/**
 * Reads the built page into memory.
 * @returns the files of the page by path; without a build the map is empty
 */
export function loadPage(folder = PAGE_FOLDER): ReadonlyMap<string, PageFile> {
  const manifest = readManifest(folder);
  return new Map(
    Object.entries(manifest).map(([path, { file, ...about }]) => {
      const read = (encoding: Encoding) => readFileSync(new URL(file + ENCODED_ENDINGS[encoding], folder));
      const bodies = { br: read('br'), gzip: read('gzip'), identity: read('identity') };
      return [path, { ...about, bodies }];
    }),
  );
}

function readManifest(folder: URL): PageManifest {
  try {
    return JSON.parse(readFileSync(new URL(MANIFEST_NAME, folder), 'utf8')) as PageManifest;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}
