import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { BUNDLES, DIST, isOfTier } from './files.js';

// The light tests of a room run in one process, because loading tap or the service takes longer than most of these tests. A test
// that runs a service in its own process shares this process with a few other tests. Each of these tests can also run alone.

/** Tests that share a process, and the bundle that imports them. */
export interface LightTests {
  readonly bundle: string;
  readonly files: readonly string[];
}

/** Packages for threads, processes and sockets. A test that loads one of these packages needs a separate process. */
const HEAVY_PACKAGES =
  /^(?:node:(?:child_process|worker_threads|https?|tls|net|inspector)|ws|uWebSockets\.js|piscina|koffi|playwright-core|@nats-io\/.+|typescript|esbuild|solc|@ethereumjs\/.+)$/;
/**
 * Modules with which a test opens a listener of the service, starts a process that opens a listener, or checks that the machine can open
 * a listener.
 */
const LISTENS =
  /^(?:src\/server\/uws\/native|src\/cli\/start_checks|scripts\/load\/server_process|test\/service\/child|test\/run_shell)\.js$/;
/** The text of a test that starts the program itself. */
const STARTS_PROGRAM = /cli\/main\.js/;
/** The built-in modules that `src` uses without a socket, only to read addresses and certificates. */
const PURE_BUILTINS_OF_SRC = /^node:(?:net|tls)$/;
/** The pattern of code that changes state which all tests of a process share. Code may read what a process does not change. */
const SHARED_STATE =
  /\bprocess\.(?!hrtime|memoryUsage|version|platform|arch|getuid|execPath|cpuUsage)|\bglobalThis\b|^(?:t\.)?(?:teardown|before|beforeEach|afterEach)\(/m;

/** The largest number of tests with a service or a thread in one process. With more tests, one core would be idle at the end. */
const SERVICE_TESTS_MAX = 7;
/** The packages with which a test starts its own threads or processes. */
const OWN_PROCESS = /^node:(?:child_process|worker_threads|inspector)$/;

/**
 * Returns the groups of tests that share a process. `test/together/ROOM.test.js` is for the light tests of a room of `test`, and
 * `ROOM_N.test.js` is for tests of a service.
 */
export function lightTests(files: readonly string[]): LightTests[] {
  const groups = new Map<string, string[]>();
  const add = (group: string, file: string) => groups.set(group, [...(groups.get(group) ?? []), file]);
  const serviceTests = new Map<string, number>();
  for (const file of files) {
    const room = file.split('/')[1]!;
    if (isLight(file)) add(room, file);
    else if (sharesService(file)) {
      const count = serviceTests.get(room) ?? 0;
      serviceTests.set(room, count + 1);
      add(`${room}_${1 + Math.floor(count / SERVICE_TESTS_MAX)}`, file);
    }
  }
  return [...groups]
    .filter(([, those]) => those.length > 1)
    .map(([name, those]) => ({ bundle: `${BUNDLES}/${name}.test.js`, files: those }));
}

/** Writes the file of each group of {@link lightTests}, which imports the tests of the group. */
export function writeLightTests(files: readonly string[]): LightTests[] {
  const written = lightTests(files);
  mkdirSync(DIST + BUNDLES, { recursive: true });
  const names = new Set(written.map(({ bundle }) => bundle));
  for (const old of readdirSync(DIST + BUNDLES))
    if (!names.has(`${BUNDLES}/${old}`)) rmSync(`${DIST}${BUNDLES}/${old}`);
  for (const { bundle, files: light } of written) {
    const text = light.map((file) => `import '${posix.relative(BUNDLES, file)}';\n`).join('');
    writeFileSync(DIST + bundle, text);
  }
  return written;
}

/**
 * Returns whether a compiled test of the fast tier may share a process with a few others, although it runs a service or threads there: it
 * starts no process itself, and leaves nothing behind.
 */
export function sharesService(file: string): boolean {
  if (!isOfTier(file, 'fast') || file.split('/').length < 3) return false;
  if (SHARED_STATE.test(readFileSync(DIST + file, 'utf8'))) return false;
  return !importsOf(file).some((specifier) => OWN_PROCESS.test(specifier));
}

/** Returns whether a compiled test of the fast tier may share a process with other tests. */
export function isLight(file: string): boolean {
  const isHeavy = (specifier: string, by: string) =>
    HEAVY_PACKAGES.test(specifier) && !(by.startsWith('src/') && PURE_BUILTINS_OF_SRC.test(specifier));
  return sharesService(file) && !loads(file, isHeavy);
}

/** Returns whether a compiled test may open a listener. Such a test loads uWebSockets.js, or starts the program. */
export function mayListen(file: string): boolean {
  return STARTS_PROGRAM.test(readFileSync(DIST + file, 'utf8')) || loads(file, (name) => LISTENS.test(name));
}

/**
 * Returns whether a module loads a certain package or module, also through other modules. @param isOne receives the name of a
 * module and the name of its importer
 */
function loads(file: string, isOne: (name: string, by: string) => boolean): boolean {
  const seen = new Set<string>();
  const waiting = [file];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    for (const specifier of importsOf(next)) {
      const isModule = specifier.startsWith('.');
      const name = isModule ? posix.join(dirname(next), specifier) : specifier;
      if (isOne(name, next)) return true;
      if (isModule) waiting.push(name);
    }
  }
  return false;
}

const known = new Map<string, readonly string[]>();

/**
 * Returns the specifiers that a compiled module imports. The result includes modules that the module names as URLs, such as the modules
 * of threads.
 */
function importsOf(path: string): readonly string[] {
  const before = known.get(path);
  if (before !== undefined) return before;
  const text = existsSync(DIST + path) ? readFileSync(DIST + path, 'utf8') : '';
  const imports = [
    ...text.matchAll(/^(?:import|export)\s(?:[^'";]*?\sfrom\s)?\s*['"]([^'"]+)['"]/gm),
    ...text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g),
    ...text.matchAll(/\bnew URL\(['"](\.[^'"]+\.js)['"]/g),
  ].map(([, specifier]) => specifier!);
  known.set(path, imports);
  return imports;
}
