import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import { type Test, test } from 'tap';
import { GROUP_ORDER } from '../../../src/crypto/wasm/secp256k1_field_code.js';
import { codeBlock, ROOT, readPage } from '../../pages.js';
import { NOT_PREPARED, preparedPackages } from '../../prepared_packages.js';
import { get, publisherSigner, startTestService, type TestService, TOKEN } from '../../service/harness.js';
import { latestWhen } from '../../service/publishing.js';
import { build } from '../solidity/build.js';
import { Chain } from '../solidity/chain.js';
import { hexOf } from '../solidity/payloads.js';
import { startProgram } from './example.js';

// Runs the quickstarts of the page, one per language, against one service. The first one publishes the prices that the others
// read.

const PAGE = 'src/client/examples/README.md';
/** The largest number of lines of the function that checks a statement about streaming IDs. */
const CHECK_LINES_MAX = 15;
const ORIGIN = 'https://charts.example.com';
const PRICE = 95_000_500_000_000_000_000_000n;
const PRINTED = /^1 95000\.500000000000000000 verified, -?\d+ ms old$/m;
/** Runs a program to its end, while the service in this process keeps running. */
const execute = promisify(execFile);
/** The attributes that a reader prints with `ATTRS=ms,quality`. */
const ATTRIBUTES: Readonly<Record<string, string>> = {
  ms: 'ms=255',
  age: 'age=\\d+',
  n: 'n=1',
  spread: 'spread=0',
};
const PROGRAM = `${ROOT}dist/src/cli/main.js`;
const OTHER_SIGNER = `0x${'ab'.repeat(20)}`;

test('a statement about streaming IDs is checked in few lines', async (t) => {
  for (const tag of ['py read.py', 'go main.go', 'rs main.rs']) {
    const [check = ''] = /^(def|func|fn) check_?meaning\([\s\S]*?(?=\n\n)/im.exec(codeBlock(PAGE, tag)) ?? [];
    const lines = check.split('\n').length;
    t.ok(lines > 5 && lines <= CHECK_LINES_MAX, `${tag}: ${lines} lines`);
  }
});

test('the quickstarts publish, read and verify', async (t) => {
  const service = await startTestService({
    listen: { port: 0, allowed_origins: [ORIGIN] },
    publishers: [{ key: publisherSigner(1).publicKey, signature_type: 'evm', oracle_id: 'mykey' }],
  });
  t.teardown(() => service.stop());
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
    const fooled = run(t, program, args, { SIGNER: OTHER_SIGNER });
    await fooled.printed(new RegExp(`signed by ${service.evmAddress}, not by ${OTHER_SIGNER}`, 'i'));
    await fooled.end();
    t.notMatch(fooled.output(), /verified/);
    const elsewhere = run(t, program, args, { TAXONOMY: '9' });
    await elsewhere.printed(/another taxonomy/);
    await elsewhere.end();
    t.notMatch(elsewhere.output(), /verified/);
  }

  /** Runs readers with each set of attributes, at once. */
  async function readsAttributes(t: Test, program: string, args: readonly string[]): Promise<void> {
    const names = Object.keys(ATTRIBUTES);
    const sets = Array.from({ length: 2 ** names.length - 1 }, (_, i) =>
      names.filter((_, bit) => ((i + 1) >> bit) & 1),
    );
    const read = async (wanted: readonly string[]) => {
      const reader = run(t, program, args, { ATTRS: wanted.join() });
      const values = wanted.map((name) => ATTRIBUTES[name]).join(' ');
      await reader.printed(
        new RegExp(`^1 95000\\.500000000000000000 verified, -?\\d+ ms old ${values}$`, 'm'),
      );
      await reader.end();
    };
    await Promise.all(sets.map(read));
  }

  /** Runs readers at once, against proxies of `/v1/taxonomy`. They have no streams, so each message is about the statement. */
  async function readsMeaning(t: Test, program: string, args: readonly string[]): Promise<void> {
    const lies = [
      [swapIds, {}, /unsigned mapping: no statement fits these streaming IDs/],
      [dropAsset, {}, /unsigned mapping: no statement fits these streaming IDs/],
      [dropStatement, {}, /not signed: /],
      [raiseS, {}, /a high s/],
      [undefined, { SYMBOL: 'DYDXUSD' }, /ASSET does not mean DYDXUSD/],
      [undefined, { ASSET: '999' }, /ASSET does not mean BTCUSD/],
      [undefined, { ASSET: '999', SYMBOL: '' }, /ASSET does not mean/],
      [undefined, { SIGNER: OTHER_SIGNER }, /signed by 0x/],
      [undefined, { TAXONOMY: '9' }, /another taxonomy/],
    ] as const;
    const check = async ([change, env, message]: (typeof lies)[number]) => {
      const url = await taxonomyProxy(t, service, change);
      const reader = run(t, program, args, { TICKSEAL_URL: url, ...env });
      await reader.printed(message);
      await reader.ended;
      t.notMatch(reader.output(), /verified/);
    };
    await Promise.all(lies.map(check));
  }

  await t.test('I publish, with the command', async (t) => {
    writeFileSync(join(folder, 'publisher.hex'), keyOf(1), { mode: 0o600 });
    const command = codeBlock(PAGE, 'sh publish').replace('tickseal', `"${process.execPath}" "${PROGRAM}"`);
    const { output, ended } = run(t, 'bash', ['-c', command]);
    await ended;
    t.match(output(), /"accepted":\["BTCUSD"\]/);
  });

  await t.test('I read in TypeScript', (t) => reads(t, process.execPath, [bundled(folder, 'read.ts')]));

  await t.test('I read in Python, and with curl', skipped(packages, 'python'), async (t) => {
    write(folder, 'read.py');
    await reads(t, join(packages.get('python')!, 'env/bin/python'), ['read.py']);
    await readsMeaning(t, join(packages.get('python')!, 'env/bin/python'), ['read.py']);
    await readsAttributes(t, join(packages.get('python')!, 'env/bin/python'), ['read.py']);
    const command = codeBlock(PAGE, 'sh curl').replace('env/bin/', `${packages.get('python')}/env/bin/`);
    await reads(t, 'bash', ['-c', command]);
  });

  await t.test('I read in Go', skipped(packages, 'go'), async (t) => {
    const prepared = packages.get('go')!;
    for (const name of ['go.mod', 'go.sum']) cpSync(join(prepared, name), join(folder, name));
    write(folder, 'main.go');
    const formatted = await execute('gofmt', ['-d', 'main.go'], { cwd: folder });
    t.equal(formatted.stdout, '');
    const program = join(folder, 'go-reader');
    await execute('go', ['build', '-o', program, 'main.go'], { cwd: folder });
    await reads(t, program, []);
    await readsMeaning(t, program, []);
    await readsAttributes(t, program, []);
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
    await readsMeaning(t, program, []);
    await readsAttributes(t, program, []);
  });

  await t.test('I ask it from an LLM', async (t) => {
    writeFileSync(join(folder, 'prices.token'), TOKEN, { mode: 0o600 });
    const text = codeBlock(PAGE, 'json mcp.json')
      .replace('http://127.0.0.1:8080', service.url)
      .replace('/home/me', folder)
      .replace('0x…', service.evmAddress);
    const { command, args } = (JSON.parse(text) as McpSettings).mcpServers.prices;
    t.equal(command, 'tickseal');
    const asked = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'latest', arguments: { symbols: ['BTCUSD'] } },
    };
    writeFileSync(join(folder, 'question.json'), JSON.stringify(asked));
    const { output, ended } = run(t, 'bash', [
      '-c',
      '"$0" "$@" < question.json',
      process.execPath,
      PROGRAM,
      ...args,
    ]);
    await ended;
    const { result } = JSON.parse(output()) as { result: { structuredContent: object } };
    t.match(result.structuredContent, {
      prices: [{ symbol: 'BTCUSD', price: '95000.5', verdict: 'verified', signer: service.evmAddress }],
    });
    const tools = [...readPage(PAGE).matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    t.same(tools, ['latest', 'at', 'verify', 'search', 'market_status']);
  });

  await t.test('I verify on chain', async (t) => {
    const lenderCode = build('Lender.sol', 'Lender', { text: codeBlock(PAGE, 'solidity Lender.sol') });
    const verifierCode = build('TicksealVerifier.sol');
    // Compiling takes long on a busy machine, so the test reads the payload afterwards.
    const payload = hexOf(await payloadByCurl(t, run));
    for (const [signer, price] of [
      [service.evmAddress, PRICE],
      [OTHER_SIGNER, 0n],
    ] as const) {
      const chain = await Chain.create();
      const verifier = await chain.deploy(verifierCode, [1, 600, 30, [signer]]);
      const lender = await chain.deploy(lenderCode, [verifier.address, 1]);
      chain.timeS = BigInt(Math.floor(Date.now() / 1000));
      t.equal((await lender.call('update', [payload])).ok, price > 0n);
      t.equal(await lender.read('price'), price);
      t.equal((await lender.call('update', [payload])).ok, false, 'not again');
    }
  });

  await t.test('I chart it in TradingView', async (t) => {
    write(folder, 'datafeed.js', 'datafeed.mjs');
    const { tickseal } = (await import(pathToFileURL(join(folder, 'datafeed.mjs')).href)) as {
      tickseal: MakeFeed;
    };
    const feed = tickseal(service.url, TOKEN);
    const config = await new Promise<{ supported_resolutions: string[] }>((done) => feed.onReady(done));
    t.ok(config.supported_resolutions.includes('1'));
    const found = await new Promise<{ symbol: string }[]>((done) => feed.searchSymbols('btc', '', '', done));
    t.same(
      found.map(({ symbol }) => symbol),
      ['BTCUSD'],
    );
    const info = await new Promise<object>((done, fail) => feed.resolveSymbol('BTCUSD', done, fail));
    const reason = await new Promise((fail) => feed.resolveSymbol('NOSUCH', () => fail('found'), fail));
    t.match(String(reason), /unknown/);
    const now = Math.floor(Date.now() / 1000);
    const bars = await new Promise<Bar[]>((done, fail) =>
      feed.getBars(info, '1', { from: now - 3600, to: now + 60 }, done, fail),
    );
    t.equal(bars.at(-1)?.close, 95_000.5);
    const next = await new Promise<Bar>((done) => feed.subscribeBars(info, '1', done, 'one'));
    feed.unsubscribeBars('one');
    t.equal(next.close, 95_000.5);
    const preflight = await fetch(`${service.url}/udf/history`, {
      method: 'OPTIONS',
      headers: {
        Origin: ORIGIN,
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'authorization',
      },
    });
    t.equal(preflight.headers.get('access-control-allow-origin'), ORIGIN);
    t.match(codeBlock(PAGE, 'html chart.html'), /import \{ tickseal \} from '\.\/datafeed\.js'/);
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

function dropAsset({ assets }: TaxonomyAnswer): void {
  assets.pop();
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

/** Starts a proxy of `/v1/taxonomy` that changes the answer. @returns its address */
async function taxonomyProxy(
  t: Test,
  service: TestService,
  change: (answer: TaxonomyAnswer) => void = () => undefined,
): Promise<string> {
  const proxy = createServer((request, response) => {
    void get(`${service.url}${request.url}`).then(async (answer) => {
      const body = (await answer.json()) as { data: TaxonomyAnswer };
      if (answer.ok) change(body.data);
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.teardown(() => proxy.close());
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

type Run = ReturnType<typeof runnerOf>;

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

/** Writes a block of the page to a file. */
function write(folder: string, name: string, path = name): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, codeBlock(PAGE, `${name.split('.').at(-1)} ${name}`));
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

/** Returns the bytes of a signed payload for a contract, read with the page's command. */
async function payloadByCurl(t: Test, run: Run): Promise<Buffer> {
  const { output, ended } = run(t, 'bash', ['-c', codeBlock(PAGE, 'sh payload')]);
  await ended;
  t.match(output(), /^0x[0-9a-f]+\n$/);
  return Buffer.from(output().trim().slice(2), 'hex');
}

interface McpSettings {
  readonly mcpServers: { readonly prices: { readonly command: string; readonly args: readonly string[] } };
}

interface Bar {
  readonly time: number;
  readonly close: number;
}

/** The part of the library's data feed interface that the page implements. */
type MakeFeed = (
  url: string,
  token: string,
) => {
  onReady(done: (config: { supported_resolutions: string[] }) => void): void;
  searchSymbols(
    text: string,
    exchange: string,
    type: string,
    done: (found: { symbol: string }[]) => void,
  ): void;
  resolveSymbol(symbol: string, done: (info: object) => void, fail: (reason: unknown) => void): void;
  getBars(
    info: object,
    resolution: string,
    period: { from: number; to: number },
    done: (bars: Bar[]) => void,
    fail: (reason: unknown) => void,
  ): void;
  subscribeBars(info: object, resolution: string, onBar: (bar: Bar) => void, id: string): void;
  unsubscribeBars(id: string): void;
};
