import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { registerClusterInit } from '../../src/cli/cluster_init_command.js';
import { openNatsBus } from '../../src/cluster/nats/nats_bus.js';
import { natsOptions, needsNatsServer } from '../cluster/nats/servers.js';
import { SteadyFeed, StreamReader } from '../service/gap_reader.js';
import { run } from './run_command.js';
import { RunningCluster } from './running_cluster.js';

/** An age that no payload reaches: a payload that a busy machine delays is no gap. */
const MAX_AGE_MS = 60_000;

test('a running cluster grows and shrinks without a gap for its readers', needsNatsServer(), async (t) => {
  const cluster = await RunningCluster.start(t, 3);
  const { dir } = cluster;
  const [first, , edge] = [await cluster.serve(1), await cluster.serve(2), await cluster.serve(3)];
  const feed = await SteadyFeed.start(edge);
  const ofEdge = new StreamReader(t, edge.url, 'live', MAX_AGE_MS);
  const grow = async (reader: StreamReader) => {
    const seen = reader.ticks.length;
    await eventually(() => reader.ticks.length > seen + 5);
  };
  await grow(ofEdge);

  await cluster.change('--add', 'edge');
  const added = await cluster.serve(4);
  const ofAdded = new StreamReader(t, added.url, 'live', MAX_AGE_MS);
  await grow(ofAdded);
  const seed = readFileSync(join(dir, 'node-4/nats.nk'), 'utf8');
  const urls = cluster.urls;
  // The page says: stop the node, then change the servers.
  t.equal(await cluster.stop(4), 0);
  await cluster.change('--remove', 'node-4');
  const options = natsOptions(urls, { role: 'edge', credentials: seed, startMsMax: 5_000 });
  await t.rejects(openNatsBus(options), /authorization/i, 'its user is gone');
  t.match(readFileSync(join(dir, 'removed-4/nats.nk'), 'utf8'), seed);

  await cluster.change('--add', 'aggregator');
  await cluster.serve(5);
  await cluster.stop(1);
  await cluster.change('--remove', 'node-1');
  await grow(ofEdge);
  t.equal((await fetch(`${first.adminUrl}/livez`).catch(() => undefined))?.status, undefined);
  await feed.stop(ofEdge);
  t.same(ofEdge.gaps, [], 'no reader of another node has a gap');
});

test('a folder that was changed by hand, and the last aggregator, are refused', async (t) => {
  const folder = t.testdir();
  const dir = join(folder, 'made');
  const init = (...args: string[]) => run(registerClusterInit, 'cluster-init', dir, ...args);
  t.match(await init('--add', 'edge'), { exitCode: 1, err: /has no folder node-1/ });
  const made = await init('--nodes', '1', '--aggregators', '1', '--servers', 'a', '--no-tls');
  t.equal(made.exitCode, 0, made.err);
  t.match(await init('--remove', 'node-1'), { exitCode: 1, err: /last aggregator/ });
  const file = join(dir, 'nats-1/nats.conf');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, `${text}# more\n`);
  t.match(await init('--add', 'edge'), { exitCode: 1, err: /accounts are not those/ });
  writeFileSync(file, text);
  t.match(await init('--add', 'edge'), { exitCode: 0, out: /node-2 has the files of an edge/ });
  t.match(readFileSync(file, 'utf8'), '  EDGE_2 {');
  t.match(await init('--remove', 'node-2'), { exitCode: 0, out: /stop node-2/ });
  t.equal(readFileSync(file, 'utf8'), text, 'the servers have the former accounts');
  t.match(await init('--add', 'edge'), { out: /node-3/ }, 'a number is never used again');
});
