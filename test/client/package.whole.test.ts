import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build, stop } from 'esbuild';
import { type Test, test } from 'tap';
import { NOT_PREPARED, preparedPackages } from '../prepared_packages.js';
import { runProgram } from '../run_program.js';

// Tests of the client as an npm package. The package is packed, installed into an empty project without a network,
// type-checked, and bundled for a browser.

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PACKAGE = 'tickseal-client';

/**
 * The largest sizes in bytes, minified and gzipped. A stream detects gaps from its first payload and sorts live ticks after
 * missed ticks, compares all payloads of a time, bounds every answer and checks the meaning of IDs, so these parts cannot be loaded lazily.
 */
const STREAM_BYTES_MAX = 23_500;
const ALL_BYTES_MAX = 41_300;
const LOG_BYTES_MAX = 6_300;
/** The verifiers of logs, which the option `log` and `searchLog` load when they are used. */
const LAZY_MODULES = ['*/log_lookup.js', '*/log_of_service.js'];

test('the client is an npm package of its own', async (t) => {
  const project = mkdtempSync(join(tmpdir(), 'tickseal-project-'));
  t.teardown(() => rmSync(project, { recursive: true, force: true }));
  t.teardown(() => stop());
  const tarball = await pack(project);
  await install(t, project, tarball);
  for (const [name, text] of Object.entries({ consumer: CONSUMER, bare: `export * from '${PACKAGE}';` }))
    writeFileSync(join(project, `${name}.ts`), text);
  await t.test('types', async (t) => {
    const nodeNext = [
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--exactOptionalPropertyTypes',
      '--noEmit',
    ];
    for (const [file, lib] of [
      ['consumer.ts', 'es2022,dom'],
      ['bare.ts', 'es2022'],
    ] as const)
      t.equal(await compile(project, ROOT, file, [...nodeNext, '--lib', lib]), '', file);
  });
  const older = preparedPackages().get('typescript');
  await t.test('types of TypeScript 5.4', { skip: older === undefined && NOT_PREPARED }, async (t) => {
    for (const [module, resolution] of [
      ['commonjs', 'node10'],
      ['esnext', 'bundler'],
    ]) {
      const options = ['--target', 'es2018', '--lib', 'es2018,dom', '--module', module!, '--outDir', module!];
      const found = await compile(project, older!, 'consumer.ts', [
        ...options,
        '--moduleResolution',
        resolution!,
      ]);
      t.equal(found, '', resolution!);
    }
    await runProgram('node', ['commonjs/consumer.js'], project);
  });
  await t.test('require', async (t) => {
    writeFileSync(join(project, 'required.cjs'), REQUIRED);
    const output = await promisify(execFile)('node', ['required.cjs'], { cwd: project });
    t.same(output, { stdout: 'function function function true\n', stderr: '' });
  });
  await t.test('bundles', async (t) => {
    const stream = await bundle(
      project,
      `export { createStreamClient, verifyPayload, Subscriber } from '${PACKAGE}'`,
      LAZY_MODULES,
    );
    const all = await bundle(project, `export * from '${PACKAGE}'`, LAZY_MODULES);
    t.ok(
      gzippedBytes(stream) <= STREAM_BYTES_MAX,
      `stream and payload verification: ${kilobytes(stream)} kB`,
    );
    t.ok(gzippedBytes(all) <= ALL_BYTES_MAX, `all: ${kilobytes(all)} kB`);
    const log = await bundle(project, `export * from '${PACKAGE}/tlog'`);
    t.ok(gzippedBytes(log) <= LOG_BYTES_MAX, `proofs of a public log: ${kilobytes(log)} kB`);
  });
});

test("the client is exported by this project's own package too", async (t) => {
  const built = (name: string) => fileURLToPath(new URL(`../../src/client/${name}`, import.meta.url));
  t.equal(fileURLToPath(import.meta.resolve('tickseal/client')), built('node.js'), 'in Node');
  t.teardown(() => stop());
  const { metafile } = await build({
    stdin: { contents: `export { createPriceSigner } from 'tickseal/client'`, resolveDir: ROOT },
    bundle: true,
    platform: 'browser',
    format: 'esm',
    metafile: true,
    write: false,
    absWorkingDir: ROOT,
  });
  const own = Object.keys(metafile.inputs).filter((path) => path.startsWith('dist/'));
  t.ok(own.includes('dist/src/client/index.js'), 'in a browser');
  t.same(
    own.filter((path) => !/^dist\/src\/(?:client|model|tlog|wire)\//.test(path)),
    [],
    'in a browser without the service’s own curves',
  );
});

test("this project's own package has all that its program and the client's modules load", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-own-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  await runProgram('npm', ['pack', '--ignore-scripts', '--pack-destination', dir], ROOT);
  await runProgram('tar', ['xzf', readdirSync(dir)[0]!], dir);
  const own = join(dir, 'package');
  symlinkSync(join(ROOT, 'node_modules'), join(own, 'node_modules'));
  t.match(await runProgram('node', ['dist/src/cli/main.js', 'check-config', '--help'], own), /check-config/);
  const { exports } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8')) as { exports: object };
  const modules = JSON.stringify(exports).match(/[^"]+(?<!worker)\.js(?=")/g)!;
  const load = modules.map((file) => `import '${file}';`).join('');
  await runProgram('node', ['--input-type=module', '--eval', load], own);
});

/** Packs the client. @returns the path of the tarball */
async function pack(dir: string): Promise<string> {
  return (await runProgram('node', [join(ROOT, 'dist/scripts/pack_client.js'), dir])).trim();
}

/** Installs the packages from this project's `node_modules`, so that nothing is downloaded. */
async function install(t: Test, project: string, tarball: string): Promise<void> {
  writeFileSync(join(project, 'package.json'), '{ "name": "project", "version": "1.0.0", "private": true }');
  const { dependencies } = readPackage(join(project, PACKAGE));
  t.same(Object.keys(dependencies!), ['@noble/secp256k1', 'ws']);
  const folders = dependencyFolders(Object.keys(dependencies!));
  const packed = await runProgram('npm', ['pack', '--json', '--ignore-scripts', ...folders], project);
  const tarballs = (JSON.parse(packed) as { filename: string }[]).map(({ filename }) =>
    join(project, filename),
  );
  await runProgram('npm', ['install', '--offline', '--ignore-scripts', ...tarballs, tarball], project);
  const installed = readdirSync(join(project, 'node_modules'), { recursive: true }) as string[];
  t.same(
    installed.filter((path) => path.endsWith('.node')),
    [],
    'nothing native',
  );
}

/** Returns the folders of packages and of all their dependencies. */
function dependencyFolders(names: readonly string[]): string[] {
  const found = new Set<string>();
  const visit = (name: string): void => {
    const folder = join(ROOT, 'node_modules', name);
    if (found.has(folder)) return;
    found.add(folder);
    Object.keys(readPackage(folder).dependencies ?? {}).forEach(visit);
  };
  names.forEach(visit);
  return [...found];
}

interface PackageFile {
  readonly dependencies?: Readonly<Record<string, string>>;
}

function readPackage(folder: string): PackageFile {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageFile;
}

/** A program that uses the types, for each compiler. Each comment in it expects an error in the line after the comment. */
const CONSUMER = `
import { createClient, EquivocationError, type PublishVerdict, type Tick, verifyAggregate, verifyPayload } from '${PACKAGE}';
import { followSigners } from '${PACKAGE}/signers';
import * as tlog from '${PACKAGE}/tlog';
import type { PayloadToVerify, VerifiedPayload } from '${PACKAGE}/worker';

export async function read(signers: string[]): Promise<bigint | undefined> {
  const client = createClient({ urls: 'https://example.com', token: 'token', signers });
  client.on('error', (error) => console.log(error.message, error instanceof EquivocationError));
  for await (const tick of client.stream(['BTCUSD'], { channel: '100ms', attributes: ['ms'] })) {
    const { price, decimal, ageMs }: Tick = tick;
    if (tick.status === 'closed') console.log(decimal.length, ageMs.toFixed());
    return price;
  }
  const publisher = client.publisher({ key: '0x1', oracleId: 'oracl', signatureType: 'stark' });
  const verdicts: Record<string, PublishVerdict> = await publisher.publish({ BTCUSD: '61000.5' });
  console.log(verdicts);
  // @ts-expect-error signers are required
  createClient({ urls: [] });
  // @ts-expect-error signers are required
  verifyAggregate('', {});
  // @ts-expect-error without named signers nothing is verified
  if (verifyPayload('', { signers: 'unchecked' }).verdict === 'verified') return undefined;
  return undefined;
}
export const worker: (message: PayloadToVerify) => VerifiedPayload['report'] = ({ hex, signers }) => verifyPayload(hex, { signers });
void [followSigners, tlog];
`;

/** A program of CommonJS. */
const REQUIRED = `
const { Client, createClient } = require('${PACKAGE}');
const { followSigners } = require('${PACKAGE}/signers');
const { verifyLogged } = require('${PACKAGE}/tlog');
import('${PACKAGE}').then((imported) => console.log(typeof createClient, typeof followSigners, typeof verifyLogged, imported.Client === Client));
`;

/** Compiles a program with the compiler of a folder. @returns the compiler's messages */
async function compile(
  project: string,
  folder: string,
  file: string,
  options: readonly string[],
): Promise<string> {
  const tsc = join(folder, 'node_modules/typescript/bin/tsc');
  const run = promisify(execFile)('node', [tsc, '--strict', ...options, file], { cwd: project });
  return (await run.catch((failed: { stdout: string }) => failed)).stdout;
}

/** Returns the text of a minified script that sets the global `client`. A module of Node in the bundle would be an error. */
async function bundle(project: string, entry: string, external: readonly string[] = []): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: project },
    bundle: true,
    minify: true,
    format: 'iife',
    globalName: 'client',
    platform: 'browser',
    target: 'es2022',
    external: [...external],
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}

function gzippedBytes(text: string): number {
  return gzipSync(text, { level: 9 }).length;
}

function kilobytes(text: string): string {
  return (gzippedBytes(text) / 1_000).toFixed(1);
}
