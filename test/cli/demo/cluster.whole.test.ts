import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { freePorts } from '../../../src/cli/demo/free_ports.js';
import { launchBrowser, needsBrowser } from '../../browser/browser.js';
import { untilText, withTab } from '../../browser/live_page.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { ROOT } from '../../pages.js';
import { runShell } from '../../run_shell.js';

const MAIN = join(ROOT, 'dist/src/cli/main.js');

interface Demo {
  readonly child: ChildProcess;
  readonly out: () => string;
}

function startDemo(t: Test, env: NodeJS.ProcessEnv = {}, port = 0): Demo {
  const { NODE_OPTIONS: _, NODE_V8_COVERAGE: __, ...inherited } = process.env;
  const child = spawn(process.execPath, [MAIN, 'demo-cluster', '--data', 'data', '--port', String(port)], {
    cwd: t.testdir({}),
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (text += bytes));
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  return { child, out: () => text };
}

/** Returns the text that the demo prints when it is ready. */
function bannerOf({ child, out }: Demo): Promise<string> {
  return eventually(() => {
    if (child.exitCode !== null) throw new Error(out());
    return / # NATS server 3\n/.test(out()) && out();
  });
}

/** Returns the children of a process. */
function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid)
    .map(Number);
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(/^PPid:\t(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    // The process has already ended.
    return undefined;
  }
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}

/** Returns whether a process has ended. A process that only waits for its parent to read its exit status counts as ended. */
function hasEnded(pid: number): boolean {
  try {
    return /^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return true;
  }
}

/** Returns the time at which the newest price of BTCUSD was signed; `undefined` without a price. */
async function signedNs(url: string, token: string): Promise<bigint | undefined> {
  const response = await fetch(`${url}/v1/prices/latest?assets=BTCUSD`, {
    headers: { Authorization: `Basic ${token}` },
  });
  const digits = /"timestamp":(\d+),"asset_id":"BTCUSD"/.exec(await response.text())?.[1];
  return digits === undefined ? undefined : BigInt(digits);
}

/** Returns the roles of the nodes, by number. Stays below the request limit of a token. */
async function rolesOf(url: string, token: string): Promise<Map<number, string>> {
  await new Promise((resolve) => setTimeout(resolve, 500));
  const response = await fetch(`${url}/v1/nodes`, { headers: { Authorization: `Basic ${token}` } });
  const { data } = (await response.json()) as { data?: { nodes: { node: number; role: string }[] } };
  return new Map(data?.nodes.map(({ node, role }) => [node, role]));
}

/** Waits for a price that was signed after `afterNs`. Stays below the request limit of a token. */
async function untilSigned(url: string, token: string, afterNs: bigint): Promise<bigint> {
  return eventually(async () => {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const timeNs = await signedNs(url, token);
    return timeNs !== undefined && timeNs > afterNs && timeNs;
  });
}

test('the demo of a cluster goes on without its leader', needsNatsServer(), async (t) => {
  const demo = startDemo(t);
  const { child, out } = demo;
  const banner = await bannerOf(demo);
  const token = /^ {2}token +(\S+)$/m.exec(banner)![1]!;
  const urls = [...banner.matchAll(/^ {2}node \d +\w+ +(\S+)/gm)].map(([, url = '']) => url);
  t.equal(urls.length, 4);
  const edges = urls.slice(2);
  for (const edge of edges) t.ok((await untilSigned(edge, token, 0n)) > 0n);
  const children = childrenOf(child.pid!);
  t.equal(children.length, 9, 'three NATS servers, four nodes, the publishers, the guard');

  const killOf = (process: string) => new RegExp(`kill -9 \\d+(?= {3}# .*${process}$)`, 'm').exec(banner)![0];
  const killed = async (process: string) => {
    const nowNs = BigInt(Date.now()) * 1_000_000n;
    await runShell(killOf(process));
    await eventually(() => out().includes(`${process} has ended (SIGKILL). To start it again`));
    for (const edge of edges)
      if (process !== `node ${urls.indexOf(edge) + 1}`)
        t.ok((await untilSigned(edge, token, nowNs)) > nowNs, `prices go on without ${process}`);
  };
  const leading = async (url: string) => {
    const roles = await rolesOf(url, token);
    return [1, 2].find((node) => roles.get(node) === 'leader');
  };
  const leader = await eventually(() => leading(edges[0]!));
  if (needsBrowser().skip === false) {
    const link = banner.match(/^ {2}(http\S+#token=\S+)$/gm)![1]!.trim();
    await withTab(t, { browser: await launchBrowser(t), url: link }, async (page) => {
      await untilText(page, '#nodes', /Node 4 serves this page. Node [12] makes the prices/);
      await untilText(page, '#verdict', 'verified');
      await killed(`node ${leader}`);
      await untilText(page, '#nodes', /Node [12] makes the prices since .*; before, node [12] did/);
      await untilText(page, '#verdict', 'verified');
    });
  } else await killed(`node ${leader}`);
  t.equal(await eventually(() => leading(edges[0]!)), 3 - leader, 'the standby leads');

  const [, command = ''] = new RegExp(`node ${leader} has ended .*\\n\\n {2}(.*)\\n`).exec(out())!;
  const again = spawn('bash', ['-c', `exec ${command}`], { stdio: 'ignore' });
  t.teardown(() => again.kill('SIGKILL'));
  await eventually(async () => (await rolesOf(edges[0]!, token)).get(leader) === 'standby');
  await killed('NATS server 2');
  await killed('node 3');

  child.kill('SIGINT');
  await once(child, 'exit');
  t.equal(child.exitCode, 0, 'exit status');
  t.ok(children.every(isGone), 'nothing is left behind');
  for (const url of urls.filter((_, index) => index + 1 !== leader))
    await t.rejects(fetch(url), 'no port is open');
});

test('nothing is left running of a demo that is killed', needsNatsServer(), async (t) => {
  const demo = startDemo(t);
  const { child } = demo;
  const banner = await bannerOf(demo);
  const [folder = ''] = /\/\S*\/tickseal-cluster-\w+/.exec(banner)!;
  t.ok(existsSync(folder));
  const children = childrenOf(child.pid!);
  t.equal(children.length, 9);
  t.teardown(() => {
    for (const one of children) if (!hasEnded(one)) process.kill(one, 'SIGKILL');
  });
  child.kill('SIGKILL');
  await eventually(() => children.every(hasEnded));
  await eventually(() => !existsSync(folder));
});

test('a port in use is said, and nothing is left running', needsNatsServer(), async (t) => {
  const [port] = await freePorts(1, [0, 1, 2, 3]);
  const other = createServer().listen(port, '127.0.0.1');
  await once(other, 'listening');
  t.teardown(() => other.close());
  const { child, out } = startDemo(t, {}, port);
  const children = await eventually(() => {
    const pids = childrenOf(child.pid!);
    return pids.length === 9 && pids;
  });
  await once(child, 'close');
  t.equal(child.exitCode, 1);
  t.match(out(), new RegExp(`^node \\d does not start: .*${port}.* in use`, 'm'));
  t.ok(children.every(isGone));
});

test('without a nats-server it says where there is one', async (t) => {
  const { child, out } = startDemo(t, { TICKSEAL_NATS_SERVER: '/nowhere/nats-server' });
  await once(child, 'close');
  t.equal(child.exitCode, 1);
  t.match(out(), /^there is no nats-server: `bash scripts\/nats_server\.sh` fetches one, .*\n$/);
});
