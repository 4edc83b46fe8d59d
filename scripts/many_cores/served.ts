import { findNatsServer } from '../../src/cli/demo/find_nats_server.js';
import { natsCpuSeconds, recentUpdates, startNode } from '../load/cluster_nodes.js';
import { startNatsServers } from '../load/nats_servers.js';
import { publishFirstPrices, startPricedService } from '../load/priced_service.js';
import { cpuSecondsOf } from '../load/server_process.js';
import { sum } from '../load/statistics.js';

const ASSETS = 100;
/** The assets of each reader. */
export const READER_ASSETS = Array.from({ length: 10 }, (_, asset) => asset);
/** The clock signs no aggregate while something is measured. */
const LOAD = { assets: ASSETS, clockPeriod: '1d' } as const;

/** A service with prices of {@link ASSETS} assets, on some threads or edges. */
export interface Served {
  /** The ports of readers and requests. */
  readonly ports: readonly number[];
  /** Returns the CPU time of all processes of the service, in seconds. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

export async function startThreads(threads: number): Promise<Served> {
  const { service } = await startPricedService({ ...LOAD, threads });
  return {
    ports: [service.port],
    cpuSeconds: () => service.cpuSeconds(),
    stop: () => service.stop(),
  };
}

/** Starts a cluster on this machine, which must have a nats-server: a NATS server, a node that leads, and edges with one thread each. */
export async function startEdges(count: number): Promise<Served> {
  const roles = ['aggregator' as const, ...Array.from({ length: count }, () => 'edge' as const)];
  const servers = await startNatsServers({ binary: findNatsServer()!, count: 1, roles, syncAlways: true });
  const leader = await startNode(servers, { role: 'aggregator', node: 1 }, LOAD);
  await publishFirstPrices(leader.port, ASSETS, recentUpdates(1));
  const edges = await Promise.all(
    Array.from({ length: count }, (_, i) => startNode(servers, { role: 'edge', node: 2 + i }, LOAD)),
  );
  const nodes = [...edges, leader];
  return {
    ports: edges.map(({ port }) => port),
    cpuSeconds: () => sum(nodes.map(({ pid }) => cpuSecondsOf(pid))) + natsCpuSeconds(servers),
    async stop() {
      for (const node of nodes) await node.stop();
      await servers.stop();
    },
  };
}
