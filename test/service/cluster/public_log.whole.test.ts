import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { registerLog } from '../../../src/cli/log_command.js';
import { Ed25519Key } from '../../../src/tlog/ed25519_key.js';
import { formatVerifierKey } from '../../../src/tlog/verifier_key.js';
import { runCommand } from '../../cli/run_command.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { emptyFolder } from '../../publiclog/witness/small_witness.js';
import { LOG_ORIGIN } from '../../tlog/witnessed_log.js';
import { distinctNowNs } from '../feed.js';
import { SERVICE_KEYS, type TestService } from '../harness.js';
import { placeOf, policyOf, priceOf, sizeBeyond } from '../logged_prices.js';
import { nodesOf, TestCluster, untilReady } from './nodes.js';

const KEYS = { ...SERVICE_KEYS, log: Buffer.alloc(32, 0x40) };
const VKEY = formatVerifierKey(new Ed25519Key(KEYS.log).logKey(LOG_ORIGIN));
const SECTIONS = { log: { origin: LOG_ORIGIN, batch: '100ms', checkpoint: '200ms' } };

/** Checks that all nodes serve the first tiles of the same tree. */
async function checkSame(t: Test, nodes: readonly Pick<TestService, 'url'>[], size: bigint): Promise<void> {
  for (const path of [`tile/0/000.p/${size}`, `tile/entries/000.p/${size}`, 'batch/000', 'batch/003']) {
    const files = await Promise.all(nodes.map(({ url }) => fetch(`${url}/tlog/${path}`)));
    t.ok(files.every(({ status }) => status === 200));
    const texts = await Promise.all(
      files.map(async (file) => Buffer.from(await file.arrayBuffer()).toString('base64')),
    );
    t.equal(new Set(texts).size, 1, `${path} is the same on all nodes`);
  }
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
    const shown = [await priceOf(first, 'BTCUSD', 'evm', 100n, distinctNowNs())];
    shown.push(await priceOf(second, 'DYDXUSD', 'stark', 3n, distinctNowNs()));
    const places = [];
    for (const aggregate of shown) {
      const [here, there] = await Promise.all(
        [first, second].map((node) => placeOf(node, aggregate, policy)),
      );
      t.equal(here!.batch.batch, there!.batch.batch);
      places.push(here!);
    }
    const size = await sizeBeyond(first, policy, 5n);
    const folder = emptyFolder(t);
    const policyFile = join(folder, 'policy');
    writeFileSync(policyFile, `log ${VKEY}\nquorum none\n`);
    const audit = ({ url }: TestService) =>
      runCommand(registerLog, [
        ...['log', 'audit', url, '--policy', policyFile],
        ...['--folder', join(folder, 'audit'), '--once'],
      ]);
    t.match(await audit(first), { exitCode: 0, stderr: '' });
    await sizeBeyond(second, policy, size - 1n);
    await checkSame(t, [first, second], size);

    // A standby that returns has the same log, and leads when the leader ends.
    await second.stop();
    shown.push(await priceOf(first, 'BTCUSD', 'evm', 110n, distinctNowNs()));
    second = await start(2);
    await untilReady(second);
    await first.stop();
    await eventually(async () =>
      (await nodesOf(second)).some(({ node, role }) => node === 2 && role === 'leader'),
    );
    shown.push(await priceOf(second, 'BTCUSD', 'evm', 120n, distinctNowNs()));
    for (const [i, aggregate] of shown.entries()) {
      const { batch, size: now } = await placeOf(second, aggregate, policy);
      if (places[i] !== undefined) t.equal(batch.batch, places[i].batch.batch, 'the place stays');
      if (i === 3) t.ok(now > size, 'and the log goes on');
    }
    const audited = await audit(second);
    t.match(audited, { exitCode: 0, stderr: '' }, 'an audit finds no fault in the log of both leaders');
    t.match(audited.stdout.at(-1), /^[1-9]\d* batches checked/);
  },
);
