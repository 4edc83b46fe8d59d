import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { registerLog } from '../../../src/cli/log_command.js';
import { runCommand } from '../../cli/run_command.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { emptyFolder } from '../../publiclog/witness/small_witness.js';
import { SERVICE_KEYS, type TestService } from '../harness.js';
import { placeOf, policyOf, priceOf } from '../logged_prices.js';
import { cosignedBy, LOGS } from '../witness_process.js';
import { nodesOf, TestCluster, untilReady } from './nodes.js';

const [{ origin, seed, vkey }] = LOGS as unknown as [(typeof LOGS)[number]];
const KEYS = { ...SERVICE_KEYS, log: seed };
const SECTIONS = { log: { origin, batch: '100ms', checkpoint: '200ms' } };

async function publicFileOf({ url }: Pick<TestService, 'url'>, path: string): Promise<string> {
  const response = await fetch(`${url}/tlog/${path}`);
  return `${response.status} ${Buffer.from(await response.arrayBuffer()).toString('base64')}`;
}

/** Checks that all nodes serve the first tiles of the same tree. */
async function checkSame(t: Test, nodes: readonly Pick<TestService, 'url'>[], size: bigint): Promise<void> {
  const paths = [`tile/0/000.p/${size}`, `tile/entries/000.p/${size}`, 'batch/000', 'batch/003'];
  for (const path of paths) {
    const files = await Promise.all(nodes.map((node) => publicFileOf(node, path)));
    t.same([...new Set(files)].length, 1, `${path} is the same on all nodes`);
    t.match(files[0], /^200 /);
  }
}

function nowNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n;
}

test(
  'every aggregator has the public log, and the next leader continues it',
  needsNatsServer(),
  async (t) => {
    const cluster = await TestCluster.start(t);
    const dirs = [emptyFolder(t), emptyFolder(t)] as const;
    const start = (node: 1 | 2) =>
      cluster.node(node, 'aggregator', SECTIONS, { keys: KEYS, dir: dirs[node - 1]! });
    const first = await start(1);
    await untilReady(first);
    let second = await start(2);
    await untilReady(second);
    const policy = await policyOf(first);
    t.same(await policyOf(second), policy);
    const shown = [await priceOf(first, 'BTCUSD', 'evm', 100n, nowNs())];
    shown.push(await priceOf(second, 'DYDXUSD', 'stark', 3n, nowNs()));
    const places = [];
    for (const aggregate of shown) {
      const [here, there] = await Promise.all(
        [first, second].map((node) => placeOf(node, aggregate, policy)),
      );
      t.equal(here!.batch.batch, there!.batch.batch);
      places.push(here!);
    }
    const size = await eventually(async () => {
      const found = await cosignedBy(first, policy, []);
      return found > 5n ? found : undefined;
    });
    const folder = emptyFolder(t);
    const policyFile = join(folder, 'policy');
    writeFileSync(policyFile, `log ${vkey}\nquorum none\n`);
    const audit = ({ url }: TestService) =>
      runCommand(registerLog, [
        ...['log', 'audit', url, '--policy', policyFile],
        ...['--folder', join(folder, 'audit'), '--once'],
      ]);
    t.match(await audit(first), { exitCode: 0, stderr: '' });
    await cosignedBy(second, policy, [], size - 1n);
    await checkSame(t, [first, second], size);

    // A standby that returns has the same log, and leads when the leader ends.
    await second.stop();
    shown.push(await priceOf(first, 'BTCUSD', 'evm', 110n, nowNs()));
    second = await start(2);
    await untilReady(second);
    await first.stop();
    await eventually(async () =>
      (await nodesOf(second)).some(({ node, role }) => node === 2 && role === 'leader'),
    );
    shown.push(await priceOf(second, 'BTCUSD', 'evm', 120n, nowNs()));
    for (const [i, aggregate] of shown.entries()) {
      const { batch, size: now } = await placeOf(second, aggregate, policy);
      if (places[i] !== undefined) t.equal(batch.batch, places[i].batch.batch, 'the place stays');
      if (i === 3) t.ok(now > size, 'and the log goes on');
    }
    const metrics = await (await fetch(`${second.adminUrl}/metrics`)).text();
    t.match(metrics, /^tickseal_tlog_stopped 0$/m);
    const audited = await audit(second);
    t.match(audited, { exitCode: 0, stderr: '' }, 'an audit finds no fault in the log of both leaders');
    t.match(audited.stdout.at(-1), /^[1-9]\d* batches checked/);
  },
);
