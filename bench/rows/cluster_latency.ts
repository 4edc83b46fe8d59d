import { recentUpdates, startNode } from '../../scripts/load/cluster_nodes.js';
import { publishFirstPrices, startPricedService } from '../../scripts/load/priced_service.js';
import { percentile } from '../../scripts/load/statistics.js';
import type { Updates } from '../../scripts/load/updates.js';
import type { Figures, Line, Measurement, Row, Scale } from '../harness/row.js';
import { withNatsServers } from '../workloads/cluster.js';
import { addPercentiles, INTERVAL_MS, measureDelays, type Way, warmUp } from '../workloads/delays.js';

const SUBSCRIBERS = 10;
/**
 * The number of turns for each path. The paths take turns, so that the bench measures all paths under the same load of the
 * machine.
 */
const TURNS: Readonly<Record<Scale, number>> = { full: 6, smoke: 1 };
const MESSAGES_PER_TURN: Readonly<Record<Scale, number>> = { full: 100, smoke: 5 };
const WARM_UP_MESSAGES: Readonly<Record<Scale, number>> = { full: 3_000, smoke: 3 };
const WARM_UP_BURST = 1;
const LOAD = { assets: 1, clockPeriod: '60s' } as const;
const ALONE = 'one process';
/**
 * The largest additional delay of each path in comparison with one process, in ms. An update from an edge passes through the
 * message servers before the update reaches the leader.
 */
const ABOVE_MS_MAX = { 'publisher at the leader': 1, 'publisher at the edge': 2 } as const;
type WayName = keyof typeof ABOVE_MS_MAX;
const AT_LEADER: WayName = 'publisher at the leader';
const AT_EDGE: WayName = 'publisher at the edge';

export const clusterLatency: Row = {
  name: 'cluster-latency',
  title: 'Publish to a reader of another node of a cluster, real_time, 200 updates a second',
  method:
    'As `latency`, with 10 unsigned subscribers of an edge and a publisher of the leader, or of the same edge, which forwards. ' +
    'Three nats-servers, the leader, the edge and one process alone share the machine, and the three ways take turns of half ' +
    'a second in one run. What is above one process is the difference of the medians of the run.',
  limit:
    'On the way there are two more processes of ours and two servers, each of which has to be given a core. On a machine with ' +
    'fewer idle cores than that they wait for each other.',
  rounds: 3,
  variants: { cluster: measure },
  lines: () => [
    ...([AT_LEADER, AT_EDGE] as const).map(line),
    {
      name: ALONE,
      unit: 'ms p50',
      variant: 'cluster',
      figure: `${ALONE}: p50`,
      shown: [{ name: 'p99', unit: 'ms', variant: 'cluster', figure: `${ALONE}: p99` }],
    },
  ],
};

function line(way: WayName): Line {
  const figure = (name: string) => ({ variant: 'cluster', figure: `${way}: ${name}` });
  return {
    name: `${way}, above one process`,
    unit: 'ms p50',
    ...figure('p50 above one process'),
    bound: { atMost: ABOVE_MS_MAX[way] },
    shown: [
      { name: 'p50', unit: 'ms', ...figure('p50') },
      { name: 'p99', unit: 'ms', ...figure('p99') },
    ],
  };
}

function measure(scale: Scale): Promise<Measurement> {
  return withNatsServers(3, async (servers) => {
    const alone = await startPricedService(LOAD, {}, recentUpdates(INTERVAL_MS));
    const leader = await startNode(servers, { role: 'aggregator', node: 1 }, LOAD);
    const edge = await startNode(servers, { role: 'edge', node: 2 }, LOAD);
    const { updates } = await publishFirstPrices(leader.port, LOAD.assets, recentUpdates(INTERVAL_MS));
    const ways = new Map<string, Way>([
      [ALONE, wayOf(alone.service.port, alone.service.port, alone.updates)],
      [AT_LEADER, wayOf(leader.port, edge.port, updates)],
      [AT_EDGE, wayOf(edge.port, edge.port, updates)],
    ]);
    const delaysMs = new Map<string, number[]>();
    for (const way of ways.values()) await warmUp(way, SUBSCRIBERS, WARM_UP_MESSAGES[scale], WARM_UP_BURST);
    for (let turn = 0; turn < TURNS[scale]; turn++)
      for (const [name, way] of ways) {
        const these = await measureDelays(way, SUBSCRIBERS, MESSAGES_PER_TURN[scale]);
        delaysMs.set(name, [...(delaysMs.get(name) ?? []), ...these]);
      }
    for (const node of [edge, leader, alone.service]) await node.stop();
    return { figures: figuresOf(delaysMs) };
  });
}

function wayOf(publishPort: number, readPort: number, updates: Updates): Way {
  return { publishPort, readPort, query: '', updates };
}

function figuresOf(delaysMs: ReadonlyMap<string, readonly number[]>): Figures {
  const figures: Figures = {};
  for (const [name, these] of delaysMs) {
    addPercentiles(figures, name, these);
    if (name !== ALONE)
      figures[`${name}: p50 above one process`] =
        percentile(these, 50) - percentile(delaysMs.get(ALONE)!, 50);
  }
  return figures;
}
