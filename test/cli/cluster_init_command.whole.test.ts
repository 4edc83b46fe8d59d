import { spawn } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { registerClusterInit } from '../../src/cli/cluster_init_command.js';
import { findNatsServer } from '../../src/cli/demo/find_nats_server.js';
import { freePorts } from '../../src/cli/demo/free_ports.js';
import { openNatsBus } from '../../src/cluster/nats/nats_bus.js';
import { loadConfig } from '../../src/config/load.js';
import { natsOptions, needsNatsServer } from '../cluster/nats/servers.js';
import { ROOT } from '../pages.js';
import { runCommand } from './run_command.js';

const MAIN = join(ROOT, 'dist/src/cli/main.js');
const sections = (port: number, adminPort: number) => `service: { taxonomy_id: 1, oracle_id: servc }
listen: { host: 127.0.0.1, port: ${port} }
admin: { host: 127.0.0.1, port: ${adminPort} }
assets: [{ id: 1, symbol: BTCUSD }]
storage: { dir: store }
`;

test(
  'cluster-init makes a cluster that starts, with TLS and a user for each node',
  needsNatsServer(),
  async (t) => {
    const dir = t.testdir();
    const made = join(dir, 'made');
    const config = join(dir, 'base.yaml');
    const [port, adminPort] = await freePorts(2);
    writeFileSync(config, sections(port!, adminPort!));
    // A server uses three ports for nodes: the given port, and the ports 2,000 and 4,000 above it.
    const ports = await freePorts(3, [0, 2000, 4000]);
    const servers = ports.map((one) => `127.0.0.1:${one}`).join();
    const args = ['cluster-init', made, '--nodes', '4', '--servers', servers, '--config', config];
    const result = await runCommand(registerClusterInit, args);
    t.same([result.exitCode, result.stderr], [0, '']);
    const again = await runCommand(registerClusterInit, args);
    t.equal(again.exitCode, 1);
    t.match(again.stderr, /exists: its keys may be in use/);

    for (const n of [1, 2, 3]) {
      const server = spawn(findNatsServer()!, ['-c', join(made, `nats-${n}`, 'nats.conf')], {
        stdio: 'ignore',
      });
      t.teardown(() => server.kill('SIGKILL'));
    }
    const busOf = async (node: number) => {
      const read = loadConfig(join(made, `node-${node}`, 'tickseal.yaml'));
      if (!read.ok) throw new Error(read.errors.join('\n'));
      const { role, servers: urls, tls } = read.config.cluster!;
      const credentials = readFileSync(join(made, `node-${node}`, 'nats.nk'), 'utf8');
      const bus = await openNatsBus(natsOptions(urls, { role, credentials, ...(tls && { tls }) }));
      t.teardown(() => bus.close());
      return bus;
    };
    const yaml = join(made, 'node-2', 'tickseal.yaml');
    const serve = spawn(process.execPath, [MAIN, 'serve', '--config', yaml], { stdio: 'ignore' });
    t.teardown(() => serve.kill('SIGKILL'));
    await eventually(async () => {
      const answer = await fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => undefined);
      return answer?.status === 200;
    });
    const edge = await busOf(4);
    const { last } = await eventually(() => edge.extent().catch(() => undefined));
    t.ok(last.sequence > 0, 'node 2 leads, and the edge reads the log');
    await t.rejects(edge.append(last, 'a-2', new Uint8Array(10)), /permission/i);
    t.throws(() => statSync(join(made, 'node-4', 'evm.hex')), 'an edge has no key of aggregates');
    for (const file of ['node-4/nats.nk', 'node-4/stream.hex', 'operator.nk', 'system.nk', 'ca.key'])
      t.equal(statSync(join(made, file)).mode & 0o77, 0, `${file} is its owner's`);
    const textOf = (file: string) => readFileSync(join(made, file), 'utf8');
    t.match(textOf('nats-1/nats.conf'), 'sync_interval: always');
    t.match(textOf('node-4/tickseal.service'), ` serve --config ${made}/node-4/tickseal.yaml\n`);
  },
);

test('cluster-init refuses what makes no cluster', async (t) => {
  const says = async (args: readonly string[], reason: RegExp) => {
    const { exitCode, stderr } = await runCommand(registerClusterInit, [
      'cluster-init',
      join(t.testdir(), 'x'),
      ...args,
    ]);
    t.not(exitCode, 0);
    t.match(stderr, reason);
  };
  await says(['--nodes', '1', '--servers', 'a'], /--aggregators is 2, more than --nodes, 1/);
  await says(['--nodes', '3', '--servers', 'a,b'], /one, three or five hosts/);
  await says(['--nodes', '3', '--servers', 'a', '--name', 'A'], /lower-case/);
  await says(['--nodes', '3', '--servers', 'a', '--config', '/nowhere'], /cannot be read/);
});
