import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
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
  await killed(`node ${leader}`);
  t.equal(await eventually(() => leading(edges[0]!)), 3 - leader, 'the standby leads');

  child.kill('SIGINT');
  await once(child, 'exit');
  t.equal(child.exitCode, 0, 'exit status');
  t.ok(children.every(isGone), 'nothing is left behind');
  for (const url of urls) await t.rejects(fetch(url), 'no port is open');
});
