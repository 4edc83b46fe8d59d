import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { eventually, pause } from '../../../scripts/load/wait.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { ROOT } from '../../pages.js';
import { runShell } from '../../run_shell.js';
import { childrenOf, isGone } from '../../service/child.js';

const MAIN = join(ROOT, 'dist/src/cli/main.js');

function startDemo(t: Test): { readonly child: ChildProcess; readonly out: () => string } {
  const { NODE_OPTIONS: _, NODE_V8_COVERAGE: __, ...env } = process.env;
  const child = spawn(process.execPath, [MAIN, 'demo-cluster', '--data', 'data', '--port', '0'], {
    cwd: t.testdir({}),
    env,
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

/** Waits for a price of BTCUSD that was signed after `afterNs`. Stays below the request limit of a token. */
function untilSigned(url: string, token: string, afterNs: bigint): Promise<unknown> {
  return eventually(async () => {
    await pause(500);
    const response = await fetch(`${url}/v1/prices/latest?assets=BTCUSD`, {
      headers: { Authorization: `Basic ${token}` },
    });
    const digits = /"timestamp":(\d+),"asset_id":"BTCUSD"/.exec(await response.text())?.[1];
    return digits !== undefined && BigInt(digits) > afterNs;
  });
}

test(
  'the demo of a cluster goes on without a node that its printed command kills',
  needsNatsServer(),
  async (t) => {
    const { child, out } = startDemo(t);
    const banner = await eventually(() => {
      if (child.exitCode !== null) throw new Error(out());
      return / # NATS server 3\n/.test(out()) && out();
    });
    const token = /^ {2}token +(\S+)$/m.exec(banner)![1]!;
    const urls = [...banner.matchAll(/^ {2}node \d +\w+ +(\S+)/gm)].map(([, url = '']) => url);
    t.equal(urls.length, 4);
    const edges = urls.slice(2);
    for (const edge of edges) await untilSigned(edge, token, 0n);
    const children = childrenOf(child.pid!)!;
    t.equal(children.length, 9, 'three NATS servers, four nodes, the publishers, the guard');

    // The first node has begun to lead.
    const [command] = /kill -9 \d+(?= {3}# .*node 1$)/m.exec(banner)!;
    const killedNs = BigInt(Date.now()) * 1_000_000n;
    await runShell(command);
    await eventually(() => out().includes('node 1 has ended (SIGKILL). To start it again'));
    for (const edge of edges) await untilSigned(edge, token, killedNs);

    child.kill('SIGINT');
    await once(child, 'exit');
    t.equal(child.exitCode, 0, 'exit status');
    t.ok(children.every(isGone), 'nothing is left behind');
    for (const url of urls) await t.rejects(fetch(url), 'no port is open');
  },
);
