import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { addressOf } from '../../../src/cli/keygen_command.js';
import { registerVerify } from '../../../src/cli/verify_command.js';
import { runCommand } from '../../cli/run_command.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { emptyFolder } from '../../publiclog/witness/small_witness.js';
import { SERVICE_KEYS, type TestService } from '../harness.js';
import { signedFrames, streamLogOf, verifyInLog } from '../logged_payloads.js';
import { priceOf } from '../logged_prices.js';
import { LOGS } from '../witness_process.js';
import { nodesOf, TestCluster, untilReady } from './nodes.js';

/** A node with its own keys of streams and of their log, and a policy that names this log. */
interface LoggedNode {
  readonly service: TestService;
  readonly log: ReturnType<typeof streamLogOf>;
  readonly signer: string;
  readonly policy: string;
}

async function startNode(
  cluster: TestCluster,
  { dir, node, role }: { dir: string; node: number; role: 'aggregator' | 'edge' },
): Promise<LoggedNode> {
  const log = streamLogOf(node);
  const stream = Buffer.alloc(32, 0x50 + node);
  const unused = { file: 'unused' };
  const isEdge = role === 'edge';
  const sections = {
    keys: { stream: unused, stream_log: unused, ...(!isEdge && { evm: unused, stark: unused }) },
    assets: [
      { id: 1, symbol: 'BTCUSD', max_age: '600s' },
      { id: 2, symbol: 'DYDXUSD', signature_type: 'stark' },
    ],
    log: { origin: LOGS[0]!.origin, batch: '100ms', checkpoint: '200ms' },
  };
  const keys = { ...(!isEdge && SERVICE_KEYS), stream, streamLog: log.seed };
  const service = await cluster.node(node, role, sections, { keys });
  await untilReady(service);
  const policy = join(dir, `${node}.policy`);
  writeFileSync(policy, `log ${log.vkey}\nquorum none\n`);
  return { service, log, signer: addressOf(stream), policy };
}

/** Checks that the log of a node has these frames. */
async function checkLogged(t: Test, node: LoggedNode, frames: readonly string[]): Promise<void> {
  const file = `${node.policy}.frames`;
  writeFileSync(file, frames.join('\n'));
  const { exitCode, stdout, stderr } = await verifyInLog(file, node.service.url, node.policy, node.signer);
  t.equal(exitCode, 0, stderr);
  const places = stdout.filter((line) => line.startsWith(`payload: logged`));
  t.equal(places.length, frames.length);
  t.ok(places.every((line) => line.includes(` of ${node.log.origin}, `)));
}

test(
  'each node of a cluster logs its own payloads, and a takeover leaves the other logs as they are',
  needsNatsServer(),
  async (t) => {
    const dir = emptyFolder(t);
    const cluster = await TestCluster.start(t);
    const leader = await startNode(cluster, { dir, node: 1, role: 'aggregator' });
    const standby = await startNode(cluster, { dir, node: 2, role: 'aggregator' });
    const edge = await startNode(cluster, { dir, node: 3, role: 'edge' });
    const nodes = [leader, standby, edge];
    const publish = (price: bigint) =>
      priceOf(edge.service, 'BTCUSD', 'evm', price, BigInt(Date.now()) * 1_000_000n);
    await publish(100n);
    const shown = await Promise.all(nodes.map(({ service }) => signedFrames(service.socketUrl, 3)));
    for (const [i, node] of nodes.entries()) await checkLogged(t, node, shown[i]!);
    const elsewhere = await runCommand(registerVerify, [
      ...['verify', shown[1]![0]!, '--signer', standby.signer],
      ...['--log', edge.service.url, '--policy', edge.policy],
    ]);
    t.equal(elsewhere.exitCode, 1);
    t.match(elsewhere.stdout.at(-1), /^payload: NOT LOGGED: .*node-3 does not have it/);
    const listed = nodes.map(({ log: { origin, vkey } }, i) => ({ node: i + 1, origin, vkey }));
    for (const { service } of nodes) {
      const logs = await eventually(async () => {
        const answer = await (await fetch(`${service.url}/v1/signers`)).json();
        const { stream_logs = [] } = answer as { stream_logs?: object[] };
        return stream_logs.length === nodes.length && stream_logs;
      });
      t.same(logs, listed, 'each node shows the keys of all');
    }

    const during = signedFrames(edge.service.socketUrl, 20);
    await leader.service.stop();
    await eventually(async () =>
      (await nodesOf(edge.service)).some(({ node, role }) => node === 2 && role === 'leader'),
    );
    await publish(110n);
    await checkLogged(t, edge, [...shown[2]!, ...(await during)]);
    await checkLogged(t, standby, shown[1]!);
    for (const { service } of [standby, edge])
      t.notMatch(await (await fetch(`${service.adminUrl}/readyz`)).text(), /streams:/);
  },
);
