import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { ageRemark } from '../../src/cli/age_remark.js';
import { NewestPrices } from '../../src/cli/newest_prices.js';
import { npmKeptOption } from '../../src/cli/npm_kept_option.js';
import { describeStartError } from '../../src/cli/port_in_use.js';
import { registerPrice } from '../../src/cli/price_command.js';
import { programCommit } from '../../src/cli/program_version.js';
import { claimPort } from '../../src/server/uws/port_claim.js';
import { Feed, units } from '../service/feed.js';
import { startTestService, TOKEN } from '../service/harness.js';
import { runCommand } from './run_command.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

test('--version is that of the package, with the commit of the build', async (t) => {
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { version: string };
  for (const option of ['--version', '-V'])
    t.equal(
      execFileSync(process.execPath, [`${ROOT}dist/src/cli/main.js`, option], { encoding: 'utf8' }),
      `${version} commit ${programCommit()}\n`,
    );
  t.match(programCommit(), /^(?:[0-9a-f]{40}(?:-dirty)?|unknown)$/);
});

test('the help lists every command, and a wrong name gets the list', async (t) => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [`${ROOT}dist/src/cli/main.js`, ...args], { encoding: 'utf8' });
  const commandsOf = (text: string) => [...text.matchAll(/^ {2}([a-z][a-z-]*)\b/gm)].map(([, name]) => name);
  const all = commandsOf(run('--help').stdout);
  for (const name of ['serve', 'publish', 'verify', 'help']) t.ok(all.includes(name), name);
  // A property name that every object inherits.
  const { stderr, status } = run('constructor');
  t.match(stderr, "error: unknown command 'constructor'");
  t.same([commandsOf(stderr), status], [all, 1]);
  t.match(run('verify', '--help').stdout, /^Usage: tickseal verify /);
});

test('an option that npm kept for itself is named', async (t) => {
  const start = { npm_lifecycle_event: 'start' };
  const advice = (option: string) =>
    `npm kept ${option} for itself: put -- before the options, as in: npm start -- ${option} …`;
  t.equal(npmKeptOption({ ...start, npm_config_port: '8180' }), advice('--port'));
  t.equal(npmKeptOption({ ...start, npm_config_admin_port: 'true' }), advice('--admin-port'));
  t.equal(npmKeptOption({ ...start, npm_config_registry: 'x' }), undefined);
  t.equal(npmKeptOption({ npm_config_port: '8180' }), undefined, 'without npm start');
});

const NAMES = { port: '--port', adminPort: '--admin-port' };

/** Describes the error of a start on the port of a server that answers with a page. */
async function describe(page: string, isAdmin: boolean): Promise<string> {
  const answer: RequestListener = (_request, response) => response.end(page);
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const error = await claimPort({ host: '127.0.0.1', port }).catch((fault) => fault);
    const text = await describeStartError(error, { adminPort: isAdmin ? port : 1, names: NAMES });
    return text.replace(String(port), 'PORT');
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

test('a port in use names its user and the option for another port', async (t) => {
  const inUse = 'cannot listen on 127.0.0.1:PORT: the address is in use';
  const openApi = '{"info":{"title":"tickseal REST API"}}';
  t.equal(await describe(openApi, false), `${inUse}: a tickseal answers there. --port chooses another port`);
  t.equal(await describe('hello', false), `${inUse}: another program. --port chooses another port`);
  const metrics = 'tickseal_build_info{version="1"} 1';
  t.equal(
    await describe(metrics, true),
    `${inUse}: a tickseal answers there. --admin-port chooses another port`,
  );
});

test('other errors of a start stay as they are', async (t) => {
  const choice = { adminPort: 1, names: { port: 'listen.port', adminPort: 'admin.port' } };
  t.equal(await describeStartError(new Error('no key'), choice), 'no key');
  const foreign = await claimPort({ host: '192.0.2.1', port: 5 }).catch((fault) => fault);
  t.match(
    await describeStartError(foreign, choice),
    /^cannot listen on 192\.0\.2\.1:5: .* \(listen\.host\)$/,
  );
});

test('a time that fits the clock has no remark', async (t) => {
  for (const ageMs of [-10_000, 0, 60_000]) t.equal(ageRemark(ageMs), undefined);
  t.match(ageRemark(-10_001), /from the future.*10 s after/);
  t.match(ageRemark(60_001), /old.*60 s ago/);
});

test('a newest price whose time does not fit the clock is printed with a remark', async (t) => {
  const service = await startTestService(t, { assets: [{ id: 1, symbol: 'BTCUSD' }] });
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(100) });
  process.env['TICKSEAL_TOKEN'] = TOKEN;
  t.teardown(() => delete process.env['TICKSEAL_TOKEN']);
  const price = () =>
    runCommand(registerPrice, ['price', 'BTCUSD', '--url', service.url, '--signer', service.evmAddress]);
  await eventually(async () => (await price()).exitCode === 0);
  const { now } = Date;
  t.teardown(() => {
    Date.now = now;
  });
  for (const [hours, remark] of [
    [0, /^$/],
    [-1, /^price: BTCUSD: this price is from the future, .* 3\d\d\d s after this machine's present time\n$/],
    [1, /^price: BTCUSD: this price is old: it was signed 3\d\d\d s ago by this machine's clock\n$/],
  ] as const) {
    Date.now = () => now() + hours * 3_600_000;
    const printed = await price();
    t.match(printed, { exitCode: 0, stderr: remark, stdout: [/^BTCUSD 100 .* verified/] }, `${hours} h`);
  }
});

test('a move comes before the lines of an interval, and only the newest line of an asset is left', async (t) => {
  const prices = new NewestPrices();
  prices.put('A', 'A clock 1', false);
  prices.put('B', 'B clock 1', false);
  prices.put('C', 'C clock 1', false);
  prices.put('B', 'B delta 2', true);
  prices.put('A', 'A clock 3', false);
  prices.put('D', 'D delta 3', true);
  prices.put('D', 'D clock 4', false);
  prices.put('C', 'C clock 4', false);
  prices.delete('C');
  t.same(
    [prices.take(), prices.take(), prices.take(), prices.take()],
    ['B delta 2', 'D clock 4', 'A clock 3', undefined],
  );
});
