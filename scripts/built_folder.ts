import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { BuildOptions } from 'esbuild';
import { ENCODED_ENDINGS, type Encoding } from '../src/server/live_page/page_files.js';

const COMPRESS = { br: brotliCompressSync, gzip: (bytes: Buffer) => gzipSync(bytes, { level: 9 }) };

/** The options with which esbuild bundles what browsers load. */
export const FOR_BROWSERS = {
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  target: ['es2022', 'chrome114', 'firefox125', 'safari17'],
  legalComments: 'none',
  logLevel: 'warning',
} as const satisfies BuildOptions;

/**
 * A folder of files that the service serves, each with its compressed copies. The finished folder replaces the present one at once, because
 * a service that starts without the folder serves no page.
 */
export class BuiltFolder {
  readonly #folder: URL;
  readonly #unfinished: URL;
  readonly #encodings: readonly Exclude<Encoding, 'identity'>[];

  /** @param encodings the encodings of the compressed copies */
  constructor(folder: URL, encodings: readonly Exclude<Encoding, 'identity'>[]) {
    this.#encodings = encodings;
    this.#folder = folder;
    this.#unfinished = new URL(`${folder.href.slice(0, -1)}.unfinished/`);
    rmSync(this.#unfinished, { recursive: true, force: true });
    mkdirSync(this.#unfinished, { recursive: true });
  }

  /** @param name the path of the file inside the folder */
  write(name: string, content: string | Buffer): void {
    const bytes = Buffer.from(content as Buffer);
    const place = new URL(name, this.#unfinished);
    mkdirSync(new URL('.', place), { recursive: true });
    writeFileSync(place, bytes);
    for (const encoding of this.#encodings)
      writeFileSync(new URL(place.href + ENCODED_ENDINGS[encoding]), COMPRESS[encoding](bytes));
  }

  finish(): void {
    rmSync(this.#folder, { recursive: true, force: true });
    renameSync(this.#unfinished, this.#folder);
  }
}
