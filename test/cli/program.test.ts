import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { test } from 'tap';
import { ageRemark } from '../../src/cli/age_remark.js';
import { npmKeptOption } from '../../src/cli/npm_kept_option.js';
import { describeStartError } from '../../src/cli/port_in_use.js';
import { programCommit } from '../../src/cli/program_version.js';
import { claimPort } from '../../src/server/uws/port_claim.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const run = (...args: string[]) =>
  spawnSync(process.execPath, [`${ROOT}dist/src/cli/main.js`, ...args], { encoding: 'utf8' });

test('--version is that of the package, with the commit of the build', async (t) => {
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { version: string };
  t.equal(run('--version').stdout, `${version} commit ${programCommit()}\n`);
  t.match(programCommit(), /^(?:[0-9a-f]{40}(?:-dirty)?|unknown)$/);
});

test('the help lists every command, and a wrong name gets the list', async (t) => {
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
  t.equal(npmKeptOption({ ...start, npm_config_registry: 'x' }), undefined);
});

const NAMES = { service: { port: '--port' }, admin: { port: '--admin-port' } };

/** Describes the error of a start on the port of a server that answers with a page. */
async function describe(page: string): Promise<string> {
  const answer: RequestListener = (_request, response) => response.end(page);
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const error = await claimPort({ host: '127.0.0.1', port }).catch((fault) => fault);
    const text = await describeStartError(error, { adminPort: 1, names: NAMES });
    return text.replace(String(port), 'PORT');
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

test('a port in use names its user and the option for another port', async (t) => {
  const inUse = 'cannot listen on 127.0.0.1:PORT: the address is in use';
  const openApi = '{"info":{"title":"tickseal REST API"}}';
  t.equal(await describe(openApi), `${inUse}: a tickseal answers there. --port chooses another port`);
  t.equal(await describe('hello'), `${inUse}: another program. --port chooses another port`);
});

test('an unusable host names the key of the host', async (t) => {
  const names = { service: { port: 'listen.port', host: 'listen.host' }, admin: { port: 'admin.port' } };
  const foreign = await claimPort({ host: '192.0.2.1', port: 5 }).catch((fault) => fault);
  t.match(await describeStartError(foreign, { adminPort: 1, names }), /: .* \(listen\.host\)$/);
});

test('a time that fits the clock has no remark', async (t) => {
  for (const ageMs of [-10_000, 0, 60_000]) t.equal(ageRemark(ageMs), undefined);
  t.match(ageRemark(-10_001), /from the future.*10 s after/);
  t.match(ageRemark(60_001), /old.*60 s ago/);
});
