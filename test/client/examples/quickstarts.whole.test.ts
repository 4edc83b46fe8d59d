import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import { type Test, test } from 'tap';
import { GROUP_ORDER } from '../../../src/crypto/wasm/secp256k1_field_code.js';
import { serve } from '../../local_server.js';
import { codeBlock, ROOT } from '../../pages.js';
import { NOT_PREPARED, preparedPackages } from '../../prepared_packages.js';
import { get, publisherSigner, startTestService, type TestService, TOKEN } from '../../service/harness.js';
import { latestWhen } from '../../service/publishing.js';
import { TcpProxy } from '../../tcp_proxy.js';
import { startProgram } from './example.js';

// Runs the quickstarts of the page, one per language, against one service. The first one publishes the prices that the others
// read.

const PAGE = 'src/client/examples/README.md';
const PRINTED = /^(?:1|BTCUSD) 95000\.500000000000000000 verified, -?\d+ ms old$/m;
/** Runs a program to its end, while the service in this process keeps running. */
const execute = promisify(execFile);
/** All attributes of a price, and what a reader prints of them. */
const ATTRIBUTES = 'ms,age,n,spread';
const PRINTED_ATTRIBUTES = /verified, -?\d+ ms old ms=255 age=\d+ n=1 spread=0$/m;
const OTHER_SIGNER = `0x${'ab'.repeat(20)}`;

test('the quickstarts publish, read and verify', async (t) => {
  const service = await startTestService(t, {
    publishers: [{ key: publisherSigner(1).publicKey, signature_type: 'evm', oracle_id: 'mykey' }],
  });
  const folder = t.testdir();
  const run = runnerOf(service, folder);
  const packages = preparedPackages();

  const publisher = run(t, process.execPath, [bundled(folder, 'publish.ts')]);
  await publisher.printed(/"type":"ack".*"accepted":\["BTCUSD"\],"rejected":\{\}/);
  await latestWhen(service, 'BTCUSD');

  async function reads(t: Test, program: string, args: readonly string[]): Promise<void> {
    const reader = run(t, program, args);
    await reader.printed(PRINTED);
    await reader.end();
    const message = new RegExp(`signed by ${service.evmAddress}, not by ${OTHER_SIGNER}`, 'i');
    await refuses(t, program, args, message, { SIGNER: OTHER_SIGNER });
  }

  /** Runs a program that ends with a message before it calls a price verified. */
  async function refuses(
    t: Test,
    program: string,
    args: readonly string[],
    message: RegExp,
    env: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const reader = run(t, program, args, env);
    await reader.printed(message);
    await reader.ended;
    t.notMatch(reader.output(), /verified/);
  }

  /** Reads a price with all attributes, and refuses each lie about the streaming IDs. */
  async function readsMeaning(
    t: Test,
    program: string,
    args: readonly string[],
    attributes: readonly string[],
  ) {
    const reader = run(t, program, [...args, ...attributes], { ATTRS: ATTRIBUTES });
    await reader.printed(PRINTED_ATTRIBUTES);
    await reader.end();
    const lies = [
      [swapIds, /unsigned mapping: no statement fits these streaming IDs/],
      [dropStatement, /not signed: /],
      [raiseS, /a high s/],
    ] as const;
    const check = async ([change, message]: (typeof lies)[number]) =>
      refuses(t, program, args, message, { TICKSEAL_URL: await restProxy(t, service, taxonomyWith(change)) });
    await Promise.all(lies.map(check));
  }

  /** Runs a reader that names assets by symbol or ID, and connects again. @param command the arguments before the names */
  async function readsNames(t: Test, program: string, command: readonly string[]): Promise<void> {
    const args = [...command, 'BTCUSD'];
    const proxy = await TcpProxy.start(service.port);
    t.teardown(() => proxy.stop());
    const reader = run(t, program, args, { TICKSEAL_URL: `http://127.0.0.1:${proxy.port}` });
    await Promise.all([
      reads(t, program, [...command, '#1']),
      refuses(t, program, [...command, 'NOPE'], /NOPE"?: the service has no such asset/),
      refuses(t, program, args, /401.*access token/, { TICKSEAL_TOKEN: 'other' }),
      reader.printed(PRINTED),
    ]);
    proxy.state = 'closed';
    proxy.state = 'open';
    await reader.printed(/; connecting again\n[\s\S]*verified/);
  }

  await t.test('I read in TypeScript', async (t) => {
    const args = [bundled(folder, 'read.ts')];
    await reads(t, process.execPath, args);
    const elsewhere = run(t, process.execPath, args, { TAXONOMY: '9' });
    await elsewhere.printed(/another taxonomy/);
    await elsewhere.end();
    t.notMatch(elsewhere.output(), /verified/);
  });

  await t.test('I read in Python, and with curl', skipped(packages, 'python'), async (t) => {
    const python = join(packages.get('python')!, 'env/bin/python');
    write(folder, 'tickseal.py');
    const stream = ['tickseal.py', 'stream', '--channel', '100ms'];
    await readsNames(t, python, stream);
    await readsMeaning(t, python, [...stream, 'BTCUSD'], ['--attributes', ATTRIBUTES]);
    const command = codeBlock(PAGE, 'sh curl').replace('env/bin/', `${packages.get('python')}/env/bin/`);
    await reads(t, 'bash', ['-c', command]);
    const payload = run(t, 'bash', ['-c', codeBlock(PAGE, 'sh payload')]);
    await payload.ended;
    t.match(payload.output(), /^0x[0-9a-f]+\n$/, 'the payload for a contract');
  });

  await t.test('a frame of the past in Python', skipped(packages, 'python'), async (t) => {
    const python = join(packages.get('python')!, 'env/bin/python');
    write(folder, 'tickseal.py');
    const { signedNs, inputNs } = await timesOf(service);
    const block = run(t, python, ['-c', codeBlock(PAGE, 'py range.py')]);
    await block.printed(/^\d+ prices from 95000\.5000+ to 95000\.5000+\n/);
    const range = (env: Readonly<Record<string, string>> = {}) =>
      run(t, python, ['-c', RANGE_PROGRAM], { FROM: `${signedNs}`, ...env });
    const read = range();
    await read.ended;
    t.equal(
      read.output(),
      `1 BTCUSD Decimal('95000.500000000000000000') ${signedNs} ${inputNs} int64 int64\n`,
    );
    const url = await restProxy(t, service, (path, text) =>
      path.startsWith('/v1/prices/range') ? text.replaceAll('"price":"950005', '"price":"950006') : text,
    );
    await range({ TICKSEAL_URL: url }).printed(/signed by 0x/);
  });

  await t.test('I read and publish in Go', skipped(packages, 'go'), async (t) => {
    const prepared = packages.get('go')!;
    for (const name of ['go.mod', 'go.sum']) cpSync(join(prepared, name), join(folder, name));
    write(folder, 'tickseal.go');
    const program = join(folder, 'go-reader');
    await execute('go', ['build', '-o', program, 'tickseal.go'], { cwd: folder });
    await readsNames(t, program, ['stream']);
    await readsMeaning(t, program, ['stream', 'BTCUSD'], []);
    for (const [price, key, message] of [
      ['BTCUSD=95000.5', 1, /^BTCUSD 95000\.5 accepted\n$/],
      ['BTCUSD=1', 9, /rejected: .*allow-list/],
    ] as const) {
      const sent = run(t, program, ['publish', price], { PUBLISHER_KEY: keyOf(key) });
      await sent.ended;
      t.match(sent.output(), message);
    }
  });

  await t.test('I read in Rust', skipped(packages, 'rust'), async (t) => {
    const prepared = packages.get('rust')!;
    for (const name of ['Cargo.toml', 'Cargo.lock']) cpSync(join(prepared, name), join(folder, name));
    write(folder, 'main.rs', 'src/main.rs');
    // The dependencies are compiled already. The folder of this test is a new package, so only the program itself must be
    // compiled.
    const env = { ...process.env, CARGO_TARGET_DIR: join(prepared, 'target'), CARGO_PROFILE_DEV_DEBUG: '0' };
    await execute('cargo', ['build', '--quiet', '--offline'], { cwd: folder, env });
    const program = join(folder, 'rust-reader');
    cpSync(join(prepared, 'target/debug/reader'), program);
    await reads(t, program, []);
    await readsMeaning(t, program, [], []);
  });
});

interface TaxonomyAnswer {
  statement?: string;
  assets: { name: string }[];
}

function swapIds({ assets }: TaxonomyAnswer): void {
  const [one, two] = assets;
  [one!.name, two!.name] = [two!.name, one!.name];
}

function dropStatement(answer: TaxonomyAnswer): void {
  delete answer.statement;
}

/** Replaces the signature of the statement by the other one that the same key could have made. */
function raiseS(answer: TaxonomyAnswer): void {
  const bytes = Buffer.from(answer.statement!.slice(2), 'hex');
  const s = BigInt(`0x${bytes.toString('hex', 32, 64)}`);
  bytes.write((GROUP_ORDER - s).toString(16).padStart(64, '0'), 32, 'hex');
  bytes[64]! ^= 1;
  answer.statement = `0x${bytes.toString('hex')}`;
}

/** Returns a change of answers that changes the taxonomy. */
function taxonomyWith(change: (answer: TaxonomyAnswer) => void): (path: string, text: string) => string {
  return (path, text) => {
    const body = JSON.parse(text) as { data: TaxonomyAnswer };
    if (path === '/v1/taxonomy') change(body.data);
    return JSON.stringify(body);
  };
}

/** Starts a proxy of REST that changes the text of answers. @returns its address */
function restProxy(
  t: Test,
  service: TestService,
  change: (path: string, text: string) => string,
): Promise<string> {
  return serve(t, (request, response) => {
    void get(`${service.url}${request.url}`).then(async (answer) =>
      response.end(change(request.url!, await answer.text())),
    );
  });
}

/** A program that prints the frame of one nanosecond. */
const RANGE_PROGRAM = `
import os
from tickseal import Service
service = Service(os.environ['TICKSEAL_URL'], os.environ['TICKSEAL_TOKEN'], [os.environ['SIGNER']])
frame = service.range('BTCUSD', int(os.environ['FROM']), int(os.environ['FROM']) + 1)
[(_, row)] = frame.iterrows()
print(len(frame), row.symbol, repr(row.price), row.signed_ns, row.timestamp_ns, frame.signed_ns.dtype, frame.timestamp_ns.dtype)
`;

/** Returns the times of the newest signed price, with all digits: that of its signature and that of its newest input. */
async function timesOf(service: TestService): Promise<{ signedNs: string; inputNs: string }> {
  const text = await (await get(`${service.url}/v1/prices/latest?assets=BTCUSD`)).text();
  const [inputNs, signedNs] = [/"timestamp":(\d+)/, /"service_signed_price":.*?"timestamp":(\d+)/].map(
    (pattern) => pattern.exec(text)![1]!,
  );
  return { signedNs: signedNs!, inputNs: inputNs! };
}

/** Returns a function that starts a program in the folder, with the variables of the page. */
function runnerOf(service: TestService, folder: string) {
  return (t: Test, program: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    startProgram(t, program, args, {
      cwd: folder,
      env: {
        // The test runner's environment variables would load its modules into each program.
        PATH: process.env['PATH'],
        TICKSEAL_URL: service.url,
        TICKSEAL_TOKEN: TOKEN,
        SIGNER: service.evmAddress,
        TAXONOMY: '1',
        ASSET: '1',
        SYMBOL: 'BTCUSD',
        PUBLISHER_KEY: keyOf(1),
        ...more,
      },
    });
}

function keyOf(publisher: number): string {
  return `0x${(publisher + 0x100).toString(16).padStart(64, '0')}`;
}

/** Returns a program beside the page. */
function sourceOf(name: string): string {
  return readFileSync(join(ROOT, dirname(PAGE), name), 'utf8');
}

/** Writes a program beside the page, or a block of the page, to a file. */
function write(folder: string, name: string, path = name): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    name.startsWith('tickseal.') ? sourceOf(name) : codeBlock(PAGE, `${name.split('.').at(-1)} ${name}`),
  );
  return file;
}

/** Writes a TypeScript program of the page as JavaScript, with its packages. */
function bundled(folder: string, name: string): string {
  const outfile = join(folder, name.replace('.ts', '.mjs'));
  buildSync({
    stdin: { contents: readFileSync(write(folder, name), 'utf8'), resolveDir: ROOT, loader: 'ts' },
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  return outfile;
}

function skipped(packages: ReadonlyMap<string, string>, language: string) {
  return { skip: !packages.has(language) && NOT_PREPARED };
}
