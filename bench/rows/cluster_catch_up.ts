import { startNode } from '../../scripts/load/cluster_nodes.js';
import { systemClock } from '../../src/clock/clock.js';
import { NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';
import type { Figures, Measurement, Row, Scale } from '../harness/row.js';
import { fillLog } from '../workloads/bench_log.js';
import { withNatsServers } from '../workloads/cluster.js';
import { AggregateEntries } from '../workloads/log_records.js';

const ASSETS: Readonly<Record<Scale, number>> = { full: 1_000, smoke: 10 };
const SPAN_SECONDS: Readonly<Record<Scale, number>> = { full: 600, smoke: 2 };
const PER_ASSET_AND_SECOND = 2;
const ROLES = ['aggregator', 'edge'] as const;

export const clusterCatchUp: Row = {
  name: 'cluster-catch-up',
  title: 'A new node reads 10 minutes of the log, 1,000 assets at 2 Hz',
  method:
    'The log of one nats-server is filled with aggregates of five inputs. Then an aggregator starts with an empty data folder, ' +
    'until it leads, and after it an edge, until it is ready. The time contains the start of the process and the storing of ' +
    'all records.',
  rounds: 1,
  variants: { cluster: measure },
  lines: () =>
    ROLES.map((role) => ({
      name: role,
      unit: '× real time',
      variant: 'cluster',
      figure: `${role}: × real time`,
      bound: { atLeast: 9 },
      shown: [{ name: 'CPU time, an aggregate', unit: 'µs', variant: 'cluster', figure: `${role}: CPU µs` }],
    })),
};

function measure(scale: Scale): Promise<Measurement> {
  return withNatsServers(1, async (servers) => {
    const assets = ASSETS[scale];
    const seconds = SPAN_SECONDS[scale];
    const fromNs = (systemClock().nowNs() - BigInt(seconds) * NS_PER_SECOND) as TimeNs;
    const entries = new AggregateEntries(assets);
    await fillLog(servers, entries.span(fromNs, seconds, assets * PER_ASSET_AND_SECOND));
    const figures: Figures = {};
    const nodes = [];
    for (const [index, role] of ROLES.entries()) {
      const startMs = performance.now();
      const node = await startNode(servers, { role, node: index + 1 }, { assets });
      figures[`${role}: × real time`] = (seconds * 1000) / (performance.now() - startMs);
      figures[`${role}: CPU µs`] = (node.cpuSeconds() * 1e6) / (seconds * assets * PER_ASSET_AND_SECOND);
      nodes.unshift(node);
    }
    for (const node of nodes) await node.stop();
    return { figures };
  });
}
