import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { launchBrowser, needsBrowser } from '../../browser/browser.js';
import { untilText, withTab } from '../../browser/live_page.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { ROOT } from '../../pages.js';
import { runShell } from '../../run_shell.js';

/**
 * The time in which a page on a busy machine asks for the nodes. The next constant is the largest number of kills until the page has
 * seen a change.
 */
const CHANGE_MS = 30_000;
const TRIES_MAX = 3;

const MAIN = join(ROOT, 'dist/src/cli/main.js');

interface Demo {
  readonly child: ChildProcess;
  readonly out: () => string;
}

function startDemo(t: Test, env: NodeJS.ProcessEnv = {}): Demo {
  const { NODE_OPTIONS: _, NODE_V8_COVERAGE: __, ...inherited } = process.env;
  const child = spawn(process.execPath, [MAIN, 'demo-cluster', '--data', 'data', '--port', '0'], {
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

/**
 * Returns the leading node; `undefined` while the edge refuses the request or knows no leader. Stays below the request limit of a
 * token.
 */
async function leadingNode(url: string, token: string): Promise<string | undefined> {
  await new Promise((resolve) => setTimeout(resolve, 500));
  const response = await fetch(`${url}/v1/nodes`, { headers: { Authorization: `Basic ${token}` } });
  const { data } = (await response.json()) as { data?: { nodes: { node: number; role: string }[] } };
  return data?.nodes.find(({ role }) => role === 'leader')?.node.toString();
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
  const { child, out } = startDemo(t);
  const banner = await eventually(() => {
    if (child.exitCode !== null) throw new Error(out());
    return / # a NATS server\n/.test(out()) && out();
  });
  const token = /^ {2}token +(\S+)$/m.exec(banner)![1]!;
  const edges = [...banner.matchAll(/^ {2}node \d +edge +(\S+)/gm)].map(([, url = '']) => url);
  t.equal(edges.length, 2);
  for (const edge of edges) t.ok((await untilSigned(edge, token, 0n)) > 0n);

  const killLines = new Map(
    [...banner.matchAll(/(kill -9 \d+) {3}# the (?:leader|standby), node (\d)/g)].map(([, line, node]) => [
      node!,
      line!,
    ]),
  );
  let leader = '';
  const kill = async () => {
    const nowNs = BigInt(Date.now()) * 1_000_000n;
    // Retries, because on a busy machine the leader may have changed after the banner or the edge named it.
    for (;;) {
      leader = await eventually(() => leadingNode(edges[0]!, token));
      const next = leader === '1' ? '2' : '1';
      const place = out().length;
      // A node that was started again has another process.
      const again = out().lastIndexOf(`node ${leader} was started again: `);
      await runShell(again < 0 ? killLines.get(leader)! : /kill -9 \d+/.exec(out().slice(again))![0]);
      const isSaid = (line: string) => out().includes(line, place);
      await eventually(() => isSaid(`node ${leader} has ended (SIGKILL); it starts again in 5 s`));
      const restarted = `node ${leader} was started again: `;
      const outcome = await eventually(() => {
        if (isSaid(`node ${next} leads, node ${leader} did before`)) return 'changed';
        return isSaid(restarted) && 'restarted';
      });
      if (outcome === 'changed') break;
    }
    for (const edge of edges) t.ok((await untilSigned(edge, token, nowNs)) > nowNs, 'prices go on');
  };
  if (needsBrowser().skip === false) {
    const link = banner.match(/^ {2}(http\S+#token=\S+)$/gm)![1]!.trim();
    await withTab(t, { browser: await launchBrowser(t), url: link }, async (page) => {
      await untilText(page, '#nodes', /Node 4 serves this page. Node [12] makes the prices/);
      await untilText(page, '#verdict', 'verified');
      await kill();
      // On a busy machine the first leader may lead again before the page asks for the nodes. Then the page never saw a change.
      const change = /Node [12] makes the prices since .*; before, node [12] did/;
      for (let tries = 0; tries < TRIES_MAX; tries++) {
        const isSeen = await untilText(page, '#nodes', change, CHANGE_MS).catch(() => undefined);
        if (isSeen !== undefined) break;
        await kill();
      }
      await untilText(page, '#nodes', change);
      await untilText(page, '#verdict', 'verified');
    });
  } else await kill();
  await eventually(() => out().includes(`node ${leader} was started again: kill -9 `));

  const children = childrenOf(child.pid!);
  t.equal(children.length, 9, 'three NATS servers, four nodes, the publishers, the guard');
  child.kill('SIGINT');
  await once(child, 'exit');
  t.equal(child.exitCode, 0, 'exit status');
  t.ok(children.every(isGone), 'nothing is left behind');
});

test('nothing is left running of a demo that is killed', needsNatsServer(), async (t) => {
  const { child, out } = startDemo(t);
  const { pid = 0 } = child;
  const banner = await eventually(() => {
    if (child.exitCode !== null) throw new Error(out());
    return / # a NATS server\n/.test(out()) && out();
  });
  const [folder = ''] = /\/\S*\/tickseal-cluster-\w+/.exec(banner)!;
  t.ok(existsSync(folder));
  const children = childrenOf(pid);
  t.equal(children.length, 9);
  t.teardown(() => {
    for (const one of children) if (!hasEnded(one)) process.kill(one, 'SIGKILL');
  });
  child.kill('SIGKILL');
  await eventually(() => children.every(hasEnded));
  await eventually(() => !existsSync(folder));
});

test('without a nats-server it says where there is one', async (t) => {
  const { child, out } = startDemo(t, { TICKSEAL_NATS_SERVER: '/nowhere/nats-server' });
  await once(child, 'close');
  t.equal(child.exitCode, 1);
  t.match(out(), /^there is no nats-server: `bash scripts\/nats_server\.sh` fetches one, .*\n$/);
});
