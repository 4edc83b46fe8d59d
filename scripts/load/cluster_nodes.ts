import { systemClock } from '../../src/clock/clock.js';
import { NS_PER_MS, NS_PER_SECOND } from '../../src/model/time.js';
import { ADMIN_PATHS } from '../../src/wire/paths.js';
import { type ClusterNode, type LoadConfig, writeConfig } from './config.js';
import { fetchOnce } from './fetch_body.js';
import type { NatsServers } from './nats_servers.js';
import { cpuSecondsOf, type ServerProcess, startService } from './server_process.js';
import { Updates } from './updates.js';
import { pause } from './wait.js';

const LOOK_INTERVAL_MS = 20;

/**
 * Starts a node of a cluster.
 * @returns the process when the node is ready. A ready node is the leader, or has all prices and has read the whole log
 */
export async function startNode(
  servers: NatsServers,
  node: Omit<ClusterNode, 'servers' | 'credentials'>,
  load: Pick<LoadConfig, 'assets'> & Partial<LoadConfig>,
): Promise<ServerProcess> {
  // Each node prefers a different server, as if each machine had its own server.
  const { urls } = servers;
  const first = (node.node - 1) % urls.length;
  const credentials = servers.credentialsOf(node.node);
  const cluster = { ...node, servers: [...urls.slice(first), ...urls.slice(0, first)], credentials };
  const config = writeConfig({ signatureType: 'evm', publishers: 1, ...load, cluster });
  const service = await startService(config.file);
  await untilReady(service);
  return service;
}

/**
 * Creates updates whose times begin an hour ago, because a cluster refuses updates that are older than two hours.
 * @param intervalMs the time between two updates. This time must equal the sending interval, because the log stores each update
 * together with the asset's updates of the last seconds
 */
export function recentUpdates(intervalMs: number): Updates {
  const startNs = systemClock().nowNs() - 3_600n * NS_PER_SECOND;
  return new Updates('evm', { startNs, intervalNs: BigInt(intervalMs) * NS_PER_MS });
}

/** Returns the CPU time that all servers have used, in seconds. */
export function natsCpuSeconds(servers: NatsServers): number {
  return servers.urls.reduce((sum, _, index) => sum + cpuSecondsOf(servers.pid(index)!), 0);
}

async function untilReady(service: ServerProcess): Promise<void> {
  while (!(await isReady(service))) await pause(LOOK_INTERVAL_MS);
}

async function isReady({ adminPort }: ServerProcess): Promise<boolean> {
  const { status } = await fetchOnce(`http://127.0.0.1:${adminPort}${ADMIN_PATHS.ready}`);
  return status === 200;
}
