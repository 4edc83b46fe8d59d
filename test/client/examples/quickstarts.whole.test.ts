import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
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
const PYTHON_LINES_MAX = 301;
const ORIGIN = 'https://charts.example.com';
const PRICE = 95_000_500_000_000_000_000_000n;
const PRINTED = /^(?:1|BTCUSD) 95000\.500000000000000000 verified, -?\d+ ms old$/m;
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
  for (const [name, program] of [
    ['Python', sourceOf('tickseal.py')],
    ['Go', sourceOf('tickseal.go')],
    ['Rust', codeBlock(PAGE, 'rs main.rs')],
  ]) {
    const [check = ''] = /^ *(def|func|fn) check_?meaning\([\s\S]*?(?=\n\n)/im.exec(program!) ?? [];
    const lines = check.split('\n').length;
    t.ok(lines > 5 && lines <= CHECK_LINES_MAX, `${name}: ${lines} lines`);
  }
  t.ok(sourceOf('tickseal.py').split('\n').length <= PYTHON_LINES_MAX);
});

test('the quickstarts publish, read and verify', async (t) => {
  const service = await startTestService(t, {
    listen: { port: 0, allowed_origins: [ORIGIN] },
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
    await refuses(
      t,
      program,
      args,
      new RegExp(`signed by ${service.evmAddress}, not by ${OTHER_SIGNER}`, 'i'),
      {
        SIGNER: OTHER_SIGNER,
      },
    );
  }

  /** Runs a program that ends with a message before it calls a price verified. */
  async function refuses(
    t: Test,
    program: string,
    args: readonly string[],
    message: RegExp,
    env: Readonly<Record<string, string>>,
  ): Promise<void> {
    const reader = run(t, program, args, env);
    await reader.printed(message);
    await reader.ended;
    t.notMatch(reader.output(), /verified/);
  }

  /** Runs readers with each set of attributes, at once. @param argsOf returns the arguments of a list of attributes */
  async function readsAttributes(
    t: Test,
    program: string,
    argsOf: (list: string) => readonly string[],
  ): Promise<void> {
    const names = Object.keys(ATTRIBUTES);
    const sets = Array.from({ length: 2 ** names.length - 1 }, (_, i) =>
      names.filter((_, bit) => ((i + 1) >> bit) & 1),
    );
    const read = async (wanted: readonly string[]) => {
      const reader = run(t, program, argsOf(wanted.join()), { ATTRS: wanted.join() });
      const values = wanted.map((name) => ATTRIBUTES[name]).join(' ');
      await reader.printed(
        new RegExp(`^(?:1|BTCUSD) 95000\\.5(?:0{17}) verified, -?\\d+ ms old ${values}$`, 'm'),
      );
      await reader.end();
    };
    await Promise.all(sets.map(read));
  }

  /** Runs readers at once, against proxies of `/v1/taxonomy`. They have no streams, so each message is about the statement. */
  async function readsMeaning(t: Test, program: string, args: readonly string[]): Promise<void> {
    const lies = [
      [swapIds, /unsigned mapping: no statement fits these streaming IDs/],
      [dropAsset, /unsigned mapping: no statement fits these streaming IDs/],
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
    const proxy = await socketProxy(t, service.port);
    const reader = run(t, program, args, { TICKSEAL_URL: proxy.url });
    await Promise.all([
      ...['BTCUSD', '#1'].map((name) => reads(t, program, [...command, name])),
      readsMeaning(t, program, args),
      ...['NOPE', '1'].map((name) =>
        refuses(t, program, [...command, name], /(?:NOPE|1)"?: the service has no such asset/, {}),
      ),
      refuses(t, program, args, /401.*access token/, { TICKSEAL_TOKEN: 'other' }),
      refuses(t, program, args, /set TICKSEAL_URL/, { TICKSEAL_URL: '' }),
      reader.printed(PRINTED),
    ]);
    proxy.cut();
    await reader.printed(/; connecting again\n[\s\S]*verified/);
  }

  await t.test('I publish, with the command', async (t) => {
    writeFileSync(join(folder, 'publisher.hex'), keyOf(1), { mode: 0o600 });
    const command = codeBlock(PAGE, 'sh publish').replace('tickseal', `"${process.execPath}" "${PROGRAM}"`);
    const { output, ended } = run(t, 'bash', ['-c', command]);
    await ended;
    t.match(output(), /"accepted":\["BTCUSD"\]/);
  });

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
    await readsAttributes(t, python, (list) => [...stream, 'BTCUSD', '--attributes', list]);
    const command = codeBlock(PAGE, 'sh curl').replace('env/bin/', `${packages.get('python')}/env/bin/`);
    await reads(t, 'bash', ['-c', command]);
    for (const line of codeBlock(PAGE, 'sh python commands').trim().split('\n'))
      t.match(line, /^env\/bin\/python tickseal\.py (?:stream|range) BTCUSD --/);
  });

  await t.test('a frame of the past in Python', skipped(packages, 'python'), async (t) => {
    const python = join(packages.get('python')!, 'env/bin/python');
    write(folder, 'tickseal.py');
    const { signedNs, inputNs } = await timesOf(service);
    const range = (env: Readonly<Record<string, string>> = {}) =>
      run(t, python, ['-c', RANGE_PROGRAM], { FROM: `${signedNs}`, ...env });
    const read = range();
    await read.ended;
    t.equal(
      read.output(),
      `1 BTCUSD Decimal('95000.500000000000000000') ${signedNs} ${inputNs} int64 int64\n`,
    );
    const block = run(t, python, ['-c', codeBlock(PAGE, 'py range.py')]);
    await block.printed(/^\d+ prices from 95000\.5000+ to 95000\.5000+\n/);
    const lies = [
      [(text: string) => text.replaceAll('"price":"950005', '"price":"950006'), /signed by 0x/],
      [(text: string) => text.replace('"price":"950005', '"price":"950006'), /not the signed one/],
      [(text: string) => text.replaceAll('"asset_id":"BTCUSD"', '"asset_id":"ETHUSD"'), /not the signed one/],
      [(text: string) => text + text, /not in its place/],
    ] as const;
    const check = async ([change, message]: (typeof lies)[number]) => {
      const url = await restProxy(t, service, (path, text) =>
        path.startsWith('/v1/prices/range') ? change(text) : text,
      );
      await range({ TICKSEAL_URL: url }).printed(message);
    };
    await Promise.all(lies.map(check));
  });

  await t.test('I read and publish in Go', skipped(packages, 'go'), async (t) => {
    const prepared = packages.get('go')!;
    for (const name of ['go.mod', 'go.sum']) cpSync(join(prepared, name), join(folder, name));
    write(folder, 'tickseal.go');
    const formatted = await execute('gofmt', ['-d', 'tickseal.go'], { cwd: folder });
    t.equal(formatted.stdout, '');
    const program = join(folder, 'go-reader');
    await execute('go', ['build', '-o', program, 'tickseal.go'], { cwd: folder });
    await readsNames(t, program, ['stream']);
    await readsAttributes(t, program, () => ['stream', 'BTCUSD']);
    for (const line of codeBlock(PAGE, 'sh go commands').trim().split('\n'))
      t.match(line, /^go run \. (?:stream|publish) BTCUSD/);
    const sent = run(t, program, ['publish', 'BTCUSD=95000.5'], { PUBLISHER_KEY: keyOf(1) });
    await sent.ended;
    t.equal(sent.output(), 'BTCUSD 95000.5 accepted\n');
    for (const [price, key, message] of [
      ['BTCUSD=1', 9, /rejected: .*allow-list/],
      ['BTCUSD', 1, /must be SYMBOL=PRICE/],
      ['BTCUSD=3,14', 1, /must be SYMBOL=PRICE/],
      ['BTCUSD=0.1234567890123456789', 1, /more than 18 decimals/],
    ] as const) {
      const refused = run(t, program, ['publish', price], { PUBLISHER_KEY: keyOf(key) });
      await refused.ended;
      t.match(refused.output(), message);
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
    await readsMeaning(t, program, []);
    await readsAttributes(t, program, () => []);
    for (const [env, message] of [
      [{ SYMBOL: 'DYDXUSD' }, /ASSET does not mean DYDXUSD/],
      [{ ASSET: '999' }, /ASSET does not mean BTCUSD/],
      [{ ASSET: '999', SYMBOL: '' }, /ASSET does not mean/],
      [{ TAXONOMY: '9' }, /another taxonomy/],
    ] as const)
      await refuses(t, program, [], message, env);
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

/** Returns a change of answers that changes the taxonomy. */
function taxonomyWith(change: (answer: TaxonomyAnswer) => void): (path: string, text: string) => string {
  return (path, text) => {
    const body = JSON.parse(text) as { data: TaxonomyAnswer };
    if (path === '/v1/taxonomy') change(body.data);
    return JSON.stringify(body);
  };
}

/** Starts a proxy of REST that changes the text of answers. @returns its address */
async function restProxy(
  t: Test,
  service: TestService,
  change: (path: string, text: string) => string,
): Promise<string> {
  const proxy = createServer((request, response) => {
    void get(`${service.url}${request.url}`).then(async (answer) =>
      response.end(change(request.url!, await answer.text())),
    );
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.teardown(() => proxy.close());
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

/** Starts a proxy of a port. `cut` ends its open connections. */
async function socketProxy(t: Test, port: number): Promise<{ readonly url: string; cut(): void }> {
  const open = new Set<Socket>();
  const proxy = createTcpServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy()).on('close', () => open.delete(from) && to.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of open) socket.destroy();
  };
  t.teardown(() => {
    cut();
    proxy.close();
  });
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, cut };
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
