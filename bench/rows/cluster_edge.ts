import { natsCpuSeconds, recentUpdates, startNode } from '../../scripts/load/cluster_nodes.js';
import { publishFirstPrices, startPricedService } from '../../scripts/load/priced_service.js';
import { publishEvery } from '../../scripts/load/publishers.js';
import type { ServerProcess } from '../../scripts/load/server_process.js';
import { openStreams } from '../../scripts/load/streams.js';
import type { Updates } from '../../scripts/load/updates.js';
import { pause } from '../../scripts/load/wait.js';
import type { Figures, Measurement, Row, Scale } from '../harness/row.js';
import { withNatsServers } from '../workloads/cluster.js';
import { countFrames, firstAssets } from '../workloads/frames.js';

const ASSETS = 10;
const LOAD = { assets: ASSETS } as const;
const READERS: Readonly<Record<Scale, number>> = { full: 1_000, smoke: 2 };
const INTERVAL_MS = 100;
/** The time between two updates. The assets take turns. */
const UPDATE_MS = INTERVAL_MS / ASSETS;
const SETTLE_MS: Readonly<Record<Scale, number>> = { full: 3_000, smoke: 20 };
const MEASURE_MS: Readonly<Record<Scale, number>> = { full: 6_000, smoke: 200 };
const CPU = 'CPU ms a second';

export const clusterEdge: Row = {
  name: 'cluster-edge',
  title: 'CPU time of an edge with 1,000 readers at 10 Hz',
  method:
    'Unsigned frames of 10 assets every 100 ms, whose prices change as often and are signed twice a second. The publisher is at ' +
    'the leader of the cluster, or at the one process. An edge verifies and signs no prices; it reads them, and the log.',
  rounds: 3,
  variants: { edge: measureEdge, 'one process': measureAlone },
  lines: () => [
    {
      name: 'CPU time, a second',
      unit: 'ms',
      variant: 'edge',
      figure: CPU,
      peers: [{ variant: 'one process', figure: CPU, ratio: { atMost: 1.2 } }],
      shown: [
        { name: 'frames', unit: '/s', variant: 'edge', figure: 'frames/s' },
        { name: 'the leader', unit: 'ms', variant: 'edge', figure: `leader ${CPU}` },
        { name: 'the NATS server', unit: 'ms', variant: 'edge', figure: `NATS ${CPU}` },
      ],
    },
  ],
};

function measureEdge(scale: Scale): Promise<Measurement> {
  return withNatsServers(1, async (servers) => {
    const leader = await startNode(servers, { role: 'aggregator', node: 1 }, LOAD);
    const edge = await startNode(servers, { role: 'edge', node: 2 }, LOAD);
    const { updates } = await publishFirstPrices(leader.port, ASSETS, recentUpdates(UPDATE_MS));
    const others = { leader: () => leader.cpuSeconds(), NATS: () => natsCpuSeconds(servers) };
    const figures = await measure(scale, edge, leader.port, updates, others);
    await edge.stop();
    await leader.stop();
    return { figures };
  });
}

async function measureAlone(scale: Scale): Promise<Measurement> {
  const { service, updates } = await startPricedService(LOAD, {}, recentUpdates(UPDATE_MS));
  const figures = await measure(scale, service, service.port, updates);
  await service.stop();
  return { figures };
}

/** @param others the CPU time of other processes in seconds, by name */
async function measure(
  scale: Scale,
  server: ServerProcess,
  publishPort: number,
  updates: Updates,
  others: Readonly<Record<string, () => number>> = {},
): Promise<Figures> {
  const streams = await openStreams({
    port: server.port,
    query: `channel=${INTERVAL_MS}ms`,
    count: READERS[scale],
    assetsOf: () => firstAssets(ASSETS),
  });
  const publishing = publishEvery(publishPort, INTERVAL_MS, SETTLE_MS[scale] + MEASURE_MS[scale], () => [
    updates.message(0, firstAssets(ASSETS)),
  ]);
  await pause(SETTLE_MS[scale]);
  const before = Object.entries(others).map(([name, cpuSeconds]) => ({
    name,
    cpuSeconds,
    seconds: cpuSeconds(),
  }));
  const end = countFrames(server, streams);
  await pause(MEASURE_MS[scale]);
  const { serverShare, wallSeconds, frames } = end();
  const figures: Figures = { [CPU]: serverShare * 1000, 'frames/s': frames / wallSeconds };
  for (const { name, cpuSeconds, seconds } of before)
    figures[`${name} ${CPU}`] = ((cpuSeconds() - seconds) * 1000) / wallSeconds;
  await publishing;
  streams.close();
  return figures;
}
