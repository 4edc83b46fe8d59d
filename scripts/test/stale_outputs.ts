import { existsSync, readdirSync, rmSync } from 'node:fs';
import { BUNDLES, ROOT, SHARED_CODE } from './files.js';

const FOLDERS = ['src', 'test', 'bench', 'scripts'];
const OUTPUT = /\.(?:js|js\.map|d\.ts)$/;

/** Deletes compiled files whose source was moved or deleted. Otherwise tap would still run deleted tests. */
export function removeStaleOutputs(root = ROOT): void {
  for (const folder of FOLDERS.filter((name) => existsSync(`${root}dist/${name}`)))
    for (const entry of readdirSync(`${root}dist/${folder}`, { recursive: true, encoding: 'utf8' })) {
      const path = `${folder}/${entry}`;
      if ([BUNDLES, SHARED_CODE].some((made) => path.startsWith(`${made}/`)) || !OUTPUT.test(path)) continue;
      if (!existsSync(root + path.replace(OUTPUT, '.ts'))) rmSync(`${root}dist/${path}`);
    }
}
