import { clientFrame } from '../../scripts/load/frame_socket.js';
import type { ServerProcess } from '../../scripts/load/server_process.js';
import { openStreams } from '../../scripts/load/streams.js';
import { publishMessage, type Updates } from '../../scripts/load/updates.js';
import { measureUsage } from '../../scripts/load/usage.js';
import { pause } from '../../scripts/load/wait.js';
import type { Measurement, Row, Scale } from '../harness/row.js';
import { natsCpuSeconds, recentUpdates, startNode, withNatsServers } from '../workloads/cluster.js';
import { publishFirstPrices, startPricedService } from '../workloads/priced_service.js';
import { openPublisher } from '../workloads/publishers.js';

const ASSETS = 10;
const LOAD = { assets: ASSETS } as const;
const READERS: Readonly<Record<Scale, number>> = { full: 1_000, smoke: 2 };
const INTERVAL_MS = 100;
/** The time between two updates. The assets take turns. */
const UPDATE_MS = INTERVAL_MS / ASSETS;
const SETTLE_MS: Readonly<Record<Scale, number>> = { full: 3_000, smoke: 20 };
const MEASURE_MS: Readonly<Record<Scale, number>> = { full: 6_000, smoke: 200 };

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
      ours: { variant: 'edge', figure: 'CPU ms a second' },
      peers: [
        {
          name: 'one process',
          source: { variant: 'one process', figure: 'CPU ms a second' },
          ratio: { atMost: 1.2 },
        },
      ],
      shown: [
        { name: 'frames', unit: '/s', source: { variant: 'edge', figure: 'frames/s' } },
        { name: 'the leader', unit: 'ms', source: { variant: 'edge', figure: 'leader CPU ms a second' } },
        { name: 'the NATS server', unit: 'ms', source: { variant: 'edge', figure: 'NATS CPU ms a second' } },
      ],
    },
  ],
};

function measureEdge(scale: Scale): Promise<Measurement> {
  return withNatsServers({ count: 1 }, async (servers) => {
    const leader = await startNode(servers, { role: 'aggregator', node: 1 }, LOAD);
    const edge = await startNode(servers, { role: 'edge', node: 2 }, LOAD);
    const { updates } = await publishFirstPrices(leader.port, ASSETS, recentUpdates(UPDATE_MS));
    const others = () => [leader.cpuSeconds(), natsCpuSeconds(servers)] as const;
    const { figures, seconds, used } = await measure(scale, edge, leader.port, updates, others);
    await edge.stop();
    await leader.stop();
    return {
      figures: {
        ...figures,
        'leader CPU ms a second': (used[0]! * 1000) / seconds,
        'NATS CPU ms a second': (used[1]! * 1000) / seconds,
      },
    };
  });
}

async function measureAlone(scale: Scale): Promise<Measurement> {
  const { service, updates } = await startPricedService(LOAD, {}, recentUpdates(UPDATE_MS));
  const { figures } = await measure(scale, service, service.port, updates, () => []);
  await service.stop();
  return { figures };
}

/** @param others returns the CPU time of the other processes */
async function measure(
  scale: Scale,
  server: ServerProcess,
  publishPort: number,
  updates: Updates,
  others: () => readonly number[],
) {
  const streams = await openStreams({
    port: server.port,
    query: `channel=${INTERVAL_MS}ms`,
    count: READERS[scale],
    assetsOf: () => assetsInOrder,
  });
  const publishing = publish(publishPort, updates, SETTLE_MS[scale] + MEASURE_MS[scale]);
  await pause(SETTLE_MS[scale]);
  const framesBefore = streams.frames;
  const before = others();
  const end = measureUsage(server);
  await pause(MEASURE_MS[scale]);
  const { serverShare, wallSeconds: seconds } = end();
  const used = others().map((value, i) => value - before[i]!);
  const frames = streams.frames - framesBefore;
  await publishing;
  streams.close();
  return {
    figures: { 'CPU ms a second': serverShare * 1000, 'frames/s': frames / seconds },
    seconds,
    used,
  };
}

const assetsInOrder = Array.from({ length: ASSETS }, (_, asset) => asset);

/** Sends a price of each asset repeatedly. */
async function publish(port: number, updates: Updates, durationMs: number): Promise<void> {
  const publisher = await openPublisher(port, 'evm');
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs) {
    publisher.write(clientFrame(publishMessage(assetsInOrder.map((asset) => updates.update(0, asset).text))));
    await pause(INTERVAL_MS);
  }
  publisher.close();
}
