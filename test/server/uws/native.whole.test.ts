import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'tap';
import { ServeProcess, writeConfig } from '../../service/child.js';

// Tests with other binaries of uWebSockets.js, because that binary comes from a third party. Each test runs the service from a
// copy of this installation. All other packages of the copy are real.

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const PACKAGE = join(ROOT, 'node_modules/uWebSockets.js');
const BUILD = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
const HASHES = new Map<string, string>(
  [
    ...readFileSync(join(ROOT, 'src/server/uws/native.ts'), 'utf8').matchAll(/(uws_\w+): '([0-9a-f]{64})'/g),
  ].map(([, build, pinned]) => [`${build}.node`, pinned!] as const),
);

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Installs a copy with another binary for this platform. */
function installWith(dir: string, binary: Buffer): string {
  cpSync(join(ROOT, 'dist/src'), join(dir, 'dist/src'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(dir, 'package.json'));
  const packages = join(dir, 'node_modules');
  mkdirSync(join(packages, 'uWebSockets.js'), { recursive: true });
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (name !== 'uWebSockets.js') symlinkSync(join(ROOT, 'node_modules', name), join(packages, name));
  for (const name of readdirSync(PACKAGE))
    if (/\.(?:js|json)$/.test(name)) cpSync(join(PACKAGE, name), join(packages, 'uWebSockets.js', name));
  writeFileSync(join(packages, 'uWebSockets.js', BUILD), binary);
  return join(dir, 'dist/src/cli/main.js');
}

test('the binaries that are pinned are those that were installed', async (t) => {
  t.ok(HASHES.has(BUILD), `${BUILD} is pinned`);
  t.equal(HASHES.size, 12, 'two systems, two processors, three versions of Node');
  for (const [file, pinned] of HASHES) t.equal(sha256(readFileSync(join(PACKAGE, file))), pinned, file);
});

test('a binary with another hash is not loaded, unless the operator names that hash', async (t) => {
  const dir = t.testdir();
  const config = writeConfig(t.testdirName);
  const changed = Buffer.concat([readFileSync(join(PACKAGE, BUILD)), Buffer.from([0])]);
  const main = installWith(join(dir, 'changed'), changed);
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const start = (file: string, env = {}) => {
    const service = new ServeProcess(['--config', file], env, { main });
    t.teardown(() => service.kill());
    return service;
  };
  for (const env of [{}, { TICKSEAL_UWS_SHA256: HASHES.get(BUILD)! }]) {
    const refused = start(config, env);
    t.equal((await refused.exited).code, 1);
    t.match(refused.stderr, `${BUILD} is not the build that is pinned (its SHA-256 is ${sha256(changed)})`);
    t.match(refused.stderr, 'TICKSEAL_UWS_SHA256');
    t.notMatch(refused.stdout, /"msg":"ready"/);
  }
  if (process.platform !== 'linux') return t.comment('skipped: a changed binary has no valid signature here');
  const trusting = start(config, { TICKSEAL_UWS_SHA256: sha256(changed) });
  const { adminUrl } = await trusting.ready();
  t.equal((await fetch(`${adminUrl}/readyz`)).status, 200);
});
