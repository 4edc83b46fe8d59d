import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { parse } from 'yaml';
import { clusterConfigHash } from '../../src/config/cluster_hash.js';
import type { Config } from '../../src/config/config.js';
import { parseConfig } from '../../src/config/load.js';
import { ROOT, readPage } from '../pages.js';

/** Returns the configuration for production with the sections of a role from the page. */
function configOf(role: 'aggregator' | 'edge'): Config {
  const [, sections = ''] =
    new RegExp(`\`\`\`yaml ${role}\\n([\\s\\S]*?)\`\`\``).exec(readPage('scripts/deploy/CLUSTER.md')) ?? [];
  const base = parse(readFileSync(join(ROOT, 'scripts/deploy/tickseal.yaml'), 'utf8'));
  const read = parseConfig(JSON.stringify({ ...base, ...parse(sections) }), 'CLUSTER.md');
  if (!read.ok) throw new Error(read.errors.join('\n'));
  return read.config;
}

test('the example with three machines is valid, and its nodes make one cluster', async (t) => {
  const [aggregator, edge] = [configOf('aggregator'), configOf('edge')];
  t.match(aggregator.cluster, { role: 'aggregator', node: 1, replicas: 3 });
  t.match(edge.cluster, { role: 'edge', node: 3 });
  t.same([...edge.cluster!.servers].sort(), [...aggregator.cluster!.servers].sort());
  t.same(clusterConfigHash(edge), clusterConfigHash(aggregator));
});
