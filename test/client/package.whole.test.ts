import { execFile } from 'node:child_process';
import { webcrypto } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { build, stop } from 'esbuild';
import { type Test, test } from 'tap';
import ts from 'typescript';
import { WebSocket } from 'ws';
import { NOT_PREPARED, preparedPackages } from '../prepared_packages.js';
import { runProgram } from '../run_program.js';
import { startContractServer, TOKEN } from './contract_server.js';

// Tests of the client as an npm package. The package is packed, installed into an empty project without a network,
// type-checked, and bundled for a browser. The bundle runs in a realm that has the globals of browsers and lacks the globals of
// Node.

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PACKAGE = 'tickseal-client';

/**
 * The largest sizes in bytes, minified and gzipped. A stream detects gaps from its first payload and sorts live ticks after
 * missed ticks, compares all payloads of a time, bounds every answer and checks the meaning of IDs, so these parts cannot be loaded lazily.
 */
const STREAM_BYTES_MAX = 23_500;
const ALL_BYTES_MAX = 40_900;
const LOG_BYTES_MAX = 6_100;
/** The verifiers of logs, which the option `log` and `searchLog` load when they are used. */
const LAZY_MODULES = ['*/log_lookup.js', '*/log_of_service.js'];

const SIGNER = '0xC4A02e7D370402F4afC36032076B05e74FF81786';
const SIGNED =
  '{"type":"signed_ecdsa","p":"0x690a1cce3cf72e889b699ef800fb80ba47c123ce7422517bfcd2ce0c701423a12938fb6fcf4424c21e39688cd41dd8919b149642b590328ada7532c88b5f0d6b010001187f4dcc627041f8000100000000000000056bc75e2d63100000"}';

test('the client is an npm package of its own', async (t) => {
  const project = mkdtempSync(join(tmpdir(), 'tickseal-project-'));
  t.teardown(() => rmSync(project, { recursive: true, force: true }));
  t.teardown(() => stop());
  const tarball = await pack(project);
  await install(t, project, tarball);
  await t.test('examples', (t) => checkExamples(t, project));
  await t.test('types', async (t) => checkTypes(t, project));
  const compiler = preparedPackages().get('typescript');
  await t.test('types of TypeScript 5.4', { skip: compiler === undefined && NOT_PREPARED }, (t) =>
    checkOlderTypes(t, project, join(compiler!, 'node_modules/typescript/bin/tsc')),
  );
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
    const all = await bundle(project, `export * from '${PACKAGE}'`);
    const first = await bundle(project, `export * from '${PACKAGE}'`, LAZY_MODULES);
    t.comment(
      `stream and payload verification: ${kilobytes(stream)} kB, all: ${kilobytes(first)} kB, gzipped`,
    );
    t.ok(
      gzippedBytes(stream) <= STREAM_BYTES_MAX,
      `stream and payload verification: ${kilobytes(stream)} kB`,
    );
    t.ok(gzippedBytes(first) <= ALL_BYTES_MAX, `all: ${kilobytes(first)} kB`);
    const log = await bundle(project, `export * from '${PACKAGE}/tlog'`);
    t.ok(gzippedBytes(log) <= LOG_BYTES_MAX, `proofs of a public log: ${kilobytes(log)} kB`);
    await receiveInRealm(t, stream);
    signInRealm(t, all);
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
  const { dependencies, scripts } = readPackage(join(project, PACKAGE));
  t.same(Object.keys(dependencies!), ['@noble/secp256k1', 'ws']);
  t.equal(scripts, undefined, 'nothing runs at install');
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
  t.same(
    installed.filter((path) => path.startsWith(`${PACKAGE}/`) && /\/(?:page|examples|solidity)\//.test(path)),
    [],
  );
  const own = installed.filter((path) => path.startsWith(`${PACKAGE}/`)).map((path) => path.split('/')[1]!);
  t.same([...new Set(own)].sort(), [
    'LICENSE',
    'README.md',
    'client',
    'commonjs',
    'contracts',
    'model',
    'package.json',
    'tlog',
    'wire',
  ]);
}

/** Checks that the examples of the README run with only this package. */
async function checkExamples(t: Test, project: string): Promise<void> {
  const page = readFileSync(join(project, 'node_modules', PACKAGE, 'README.md'), 'utf8');
  const examples = [...page.matchAll(/^```js\n(.*?)^```/gms)].map(([, text = '']) => text);
  t.ok(examples.length > 0);
  for (const example of examples) {
    const [, imported] = /^import .* from '(.*)';$/m.exec(example) ?? [];
    t.equal(imported, PACKAGE);
  }
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
  readonly scripts?: object;
}

function readPackage(folder: string): PackageFile {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as PackageFile;
}

/** A program that uses the types. Each comment in it expects an error in the line after the comment. */
const CONSUMER = `
import type { PayloadToVerify, VerifiedPayload } from '${PACKAGE}/worker';
import {
  createClient, Publisher, type PublishResult, type PublishVerdict, type Signers, Subscriber, type Tick, verifyAggregate, verifyPayload,
} from '${PACKAGE}';

const subscriber = new Subscriber({
  url: 'wss://example.com',
  onFrame(frame) {
    if (frame.type !== 'signed_ecdsa') return;
    const report = verifyPayload(frame.payload, { signers: ['0x1111111111111111111111111111111111111111'] });
    const verdict: 'verified' | 'failed' = report.verdict;
    if (report.verdict === 'verified') void [report.payload.assets[0]?.value, report.signer, verdict];
  },
});
export const result: Promise<PublishResult> = new Publisher({ url: '', signatureType: 'evm' }).publish([]);
export const unchecked: 'recovered' | 'failed' = verifyPayload('', { signers: 'unchecked' }).verdict;
export const either = (signers: Signers) => verifyAggregate('', { signers })[0]?.verdict === 'verified';
const client = createClient({ urls: 'https://example.com', getToken: () => 'token', signers: ['0x1111111111111111111111111111111111111111'], worker: false });
for await (const tick of client.stream(['BTCUSD'], { channel: '100ms', attributes: ['ms'], signal: AbortSignal.timeout(1) })) {
  const fields: [bigint, string, number, string] = [tick.price, tick.decimal, tick.ageMs, tick.signer];
  if (tick.status === 'closed') console.log(fields, tick.timestampNs + 1n);
}
export const worker: (message: PayloadToVerify) => VerifiedPayload['report'] = ({ hex, signers }) => verifyPayload(hex, { signers });
export const tick: Promise<Tick | undefined> = client.latest(['BTCUSD']).then(({ BTCUSD }) => BTCUSD);
export const verdicts: Promise<Record<string, PublishVerdict>> = client
  .publisher({ key: '0x1', oracleId: 'oracl', signatureType: 'stark' })
  .publish({ BTCUSD: '61000.5' });
client.on('error', (error) => console.log(error.name));
client.on('state', ({ url, state }) => console.log(url, state));
// @ts-expect-error signers are required
createClient({ urls: [] });
// @ts-expect-error signers are required
verifyPayload('');
// @ts-expect-error signers are required
verifyAggregate('', {});
// @ts-expect-error without named signers nothing is verified
if (verifyPayload('', { signers: 'unchecked' }).verdict === 'verified') void subscriber;
`;

/** A program of CommonJS. */
const REQUIRED = `
const { Client, createClient } = require('${PACKAGE}');
const { followSigners } = require('${PACKAGE}/signers');
const { verifyLogged } = require('${PACKAGE}/tlog');
import('${PACKAGE}').then((imported) => console.log(typeof createClient, typeof followSigners, typeof verifyLogged, imported.Client === Client));
`;

/** A program for compilers whose target is ES2018. */
const OLDER_CONSUMER = `
import { createClient, EquivocationError, type Tick, verifyPayload } from '${PACKAGE}';
import { followSigners } from '${PACKAGE}/signers';
import * as tlog from '${PACKAGE}/tlog';
import type { PayloadToVerify } from '${PACKAGE}/worker';

export async function read(signers: string[]): Promise<bigint | undefined> {
  const client = createClient({ urls: 'https://example.com', token: 'token', signers });
  client.on('error', (error) => console.log(error.message, error instanceof EquivocationError));
  for await (const tick of client.stream(['BTCUSD'])) {
    const { price }: Tick = tick;
    return price;
  }
  return undefined;
}
export const hexOf = ({ hex, signers }: PayloadToVerify) => verifyPayload(hex, { signers }).verdict;
void [followSigners, tlog];
`;

/** Compiles a program of ES2018 with an older compiler, in each way to find packages, and loads what runs in Node. */
async function checkOlderTypes(t: Test, project: string, tsc: string): Promise<void> {
  writeFileSync(join(project, 'older.ts'), OLDER_CONSUMER);
  for (const [module, resolution] of [
    ['commonjs', 'node10'],
    ['node16', 'node16'],
    ['esnext', 'bundler'],
  ] as const) {
    const options = ['--strict', '--target', 'es2018', '--lib', 'es2018,dom', '--module', module];
    const places = ['--moduleResolution', resolution, '--outDir', resolution, 'older.ts'];
    const { stdout } = await promisify(execFile)('node', [tsc, ...options, ...places], {
      cwd: project,
    }).catch((failed: { stdout: string }) => failed);
    t.equal(stdout, '', resolution);
    if (module !== 'esnext') await runProgram('node', [`${resolution}/older.js`], project);
  }
}

function checkTypes(t: Test, project: string): void {
  const files = { consumer: CONSUMER, bare: `export * from '${PACKAGE}';` };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, `${name}.mts`), text);
  const nodeNext = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext };
  const bundler = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler };
  const plain = ['lib.es2022.d.ts'];
  const withDom = [...plain, 'lib.dom.d.ts'];
  for (const [file, lib, options] of [
    ['consumer', withDom, nodeNext],
    ['consumer', withDom, bundler],
    ['bare', plain, nodeNext],
  ] as const) {
    const program = ts.createProgram([join(project, `${file}.mts`)], {
      ...options,
      target: ts.ScriptTarget.ES2022,
      lib: [...lib],
      types: [],
      strict: true,
      // The compiler skips only TypeScript's own declarations, and checks the declarations of the package.
      skipDefaultLibCheck: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
    });
    const faults = ts.getPreEmitDiagnostics(program);
    const host = { getCurrentDirectory: () => project, getCanonicalFileName: String, getNewLine: () => '\n' };
    t.equal(ts.formatDiagnostics(faults, host), '', `${file}, ${lib.length} libraries`);
  }
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

/** Runs a bundle and then a script in a realm with some globals of browsers. @returns the value of the script */
function runInRealm(code: string, script: string, globals: object): unknown {
  const names = { TextEncoder, TextDecoder, crypto: webcrypto, setTimeout, clearTimeout, btoa };
  const realm = createContext({ ...names, ...globals });
  return runInContext(`${code}\n${script}`, realm, { timeout: 60_000 });
}

test('the realm has nothing of Node', async (t) => {
  t.equal(
    runInRealm('', '[typeof Buffer, typeof process, typeof require].join()', {}),
    'undefined,undefined,undefined',
  );
});

/** A browser socket of a web site whose proxy adds the header. */
class BrowserSocket extends WebSocket {
  constructor(url: string) {
    super(url, { headers: { Authorization: `Basic ${TOKEN}` } });
  }
}

async function receiveInRealm(t: Test, code: string): Promise<void> {
  const server = await startContractServer();
  t.teardown(() => server.close());
  server.onSocket = (socket) => socket.once('message', () => socket.send(SIGNED));
  const script = `new Promise((resolve, reject) => {
    const subscriber = new client.Subscriber({
      url: address,
      messageType: 'signed_ecdsa',
      onError: reject,
      onFrame(frame) {
        const { verdict, payload, signer } = client.verifyPayload(frame.payload, { signers: [named] });
        const [asset] = payload.assets;
        subscriber.close().then(() => resolve([verdict, signer, asset.id, asset.value].join()));
      },
    });
    subscriber.subscribe([1]);
  })`;
  const received = await runInRealm(code, script, {
    WebSocket: BrowserSocket,
    address: server.url,
    named: SIGNER,
  });
  t.equal(received, `verified,${SIGNER},1,${100n * 10n ** 18n}`);
}

function signInRealm(t: Test, code: string): void {
  const script = `['evm', 'stark'].map((signatureType) => {
    const signer = client.createPriceSigner({
      signatureType, oracleId: 'oracl', secretKey: client.parseSecretKey('0x' + '11'.repeat(31)),
    });
    const { signed_price } = signer.sign({ symbol: 'BTCUSD', price: client.parseDecimalPrice('1.5'), timestampNs: 1n });
    const text = client.writeExactJson(signed_price);
    const report = client.verifySignedPrice(text, { assetId: 'BTCUSD', signers: [signer.publicKey] });
    return report.verdict;
  }).join()`;
  t.equal(runInRealm(code, script, {}), 'verified,verified');
}
