import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { licencesOf } from './licences.js';

// Bundles the program and the programs of its threads, because Node loads a few large modules in a third of the time of 700 small
// modules. The other modules stay separate, because tests and users of the client import them. `scripts/compile.mjs` runs this program.

/** The folder for modules that a program loads lazily, and for the code that several of them share. */
const SHARED = 'src/bundle';

/** The packages that load files beside their own code: native add-ons, and the program of a thread. */
const WITH_FILES = ['koffi', 'piscina', 'secp256k1', 'uWebSockets.js'];

/**
 * The text before the path of a compiled module in the bundles. {@link buildPrograms} replaces this text when it knows the file that
 * contains it.
 */
const FROM_DIST = 'from-dist:/';

/** The start of each ES module. Packages in CommonJS need `require` for the modules of Node. */
const REQUIRE = `import { createRequire as createRequireHere } from 'node:module';
const require = createRequireHere(import.meta.url);`;

/**
 * Bundles the programs into `dist`. Each bundle replaces the compiled module of its program.
 * @param root the project's folder
 * @param programs the paths of the sources from that folder
 */
export async function buildPrograms(root: string, programs: readonly string[]): Promise<void> {
  const bundles = await Promise.all(programs.map((program) => bundle(root, program, programs)));
  const dist = join(root, 'dist');
  rmSync(join(dist, SHARED), { recursive: true, force: true });
  mkdirSync(join(dist, SHARED), { recursive: true });
  const inputs = Object.assign({}, ...bundles.map(({ metafile }) => metafile.inputs));
  writeFileSync(join(dist, SHARED, 'licences.txt'), licencesOf(root, { inputs }));
  for (const { path, text } of bundles.flatMap(({ outputFiles }) => outputFiles)) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, inAscii(text.replaceAll(FROM_DIST, `${relative(dirname(path), dist)}/`)));
  }
}

/**
 * Escapes all characters that are not ASCII. V8 keeps a source with such a character in twice the memory. esbuild leaves them only in comments and
 * regular expressions.
 */
function inAscii(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/**
 * Bundles one program. The programs share no code: code that several programs shared would be split into many small modules, and Node
 * takes 1 ms of CPU time to find and link each module.
 */
function bundle(root: string, program: string, programs: readonly string[]) {
  return build({
    absWorkingDir: root,
    entryPoints: [program],
    outdir: 'dist',
    outbase: '.',
    chunkNames: `${SHARED}/[name]-[hash]`,
    bundle: true,
    format: 'esm',
    splitting: true,
    banner: { js: REQUIRE },
    platform: 'node',
    target: 'node20.19',
    external: WITH_FILES,
    plugins: [ownPlaces(root), otherPrograms(root, programs), ONE_LANGUAGE],
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
}

/** Excludes the other programs from a bundle that imports them. */
function otherPrograms(root: string, programs: readonly string[]): Plugin {
  return {
    name: 'other programs',
    setup({ onResolve }) {
      onResolve({ filter: /^\.\.?\/.*\.js$/ }, ({ path, resolveDir, kind }) => {
        const module = relative(root, join(resolveDir, path));
        if (kind !== 'dynamic-import' || !programs.includes(module.replace(/\.js$/, '.ts'))) return undefined;
        return { path: `${FROM_DIST}${module}`, external: true };
      });
    },
  };
}

/** Omits the translations of zod's messages, which are a third of its code. Another module loads English. */
const ONE_LANGUAGE: Plugin = {
  name: 'one language',
  setup({ onLoad }) {
    onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({ contents: 'export {};' }));
  },
};

/**
 * Keeps the path of each module of the project in its `import.meta.url`, because modules find files and the programs of threads with this
 * path.
 */
function ownPlaces(root: string): Plugin {
  return {
    name: 'own places',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const contents = readFileSync(path, 'utf8');
        const module = relative(root, path).replace(/\.ts$/, '.js');
        if (!module.startsWith('src/') || !contents.includes('import.meta.url')) return undefined;
        const url = `new URL('${FROM_DIST}${module}', import.meta.url).href`;
        return { contents: contents.replaceAll('import.meta.url', url), loader: 'ts' };
      });
    },
  };
}
