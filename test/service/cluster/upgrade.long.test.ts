import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { RunningCluster } from '../../cli/running_cluster.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { ROOT } from '../../pages.js';
import { runProgram } from '../../run_program.js';
import { SteadyFeed, StreamReader } from '../gap_reader.js';

/** An age that no payload reaches: a payload that a busy machine delays is no gap. */
const MAX_AGE_MS = 60_000;

test(
  'a cluster of the last release is upgraded node by node, without a gap',
  needsNatsServer(),
  async (t) => {
    const args = ['describe', '--tags', '--abbrev=0', '--match', 'v*'];
    const { stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
    const tag = stdout.trim();
    if (tag === '') return t.pass('skipped: no release has a tag yet');
    const former = await buildRelease(t.testdir(), tag);
    await t.test(`from ${tag}`, async (t) => {
      const cluster = await RunningCluster.start(t, 4, former);
      const served = [];
      for (const node of [1, 2, 3, 4]) served.push(await cluster.serve(node, former));
      const edges = served.slice(2);
      const reader = new StreamReader(
        t,
        edges.map(({ url }) => url),
        'live',
        MAX_AGE_MS,
      );
      const upgrade = async (node: number) => {
        await eventually(() => reader.open.size === edges.length);
        t.equal(await cluster.stop(node), 0);
        await cluster.serve(node);
      };
      // The publisher of the first steps is at the edge that is upgraded last. Node 1 has begun to lead, so it is the last aggregator.
      const first = await SteadyFeed.start(edges[1]!);
      for (const node of [3, 2, 1]) await upgrade(node);
      await first.stop(reader);
      const second = await SteadyFeed.start(edges[0]!);
      await upgrade(4);
      await eventually(() => reader.open.size === edges.length);
      await second.stop(reader);
      t.ok(reader.ticks.length > 20);
      t.same(reader.gaps, []);
    });
  },
);

/** Builds a release in a folder, as its page says. @returns its program */
async function buildRelease(dir: string, tag: string): Promise<string> {
  await runProgram('bash', ['-c', `git -C "$0" archive "$1" | tar -x -C "$2"`, ROOT, tag, dir]);
  await runProgram('npm', ['ci', '--ignore-scripts'], dir);
  await runProgram('npm', ['run', 'prepare'], dir);
  return join(dir, 'dist/src/cli/main.js');
}
