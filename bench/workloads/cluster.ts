import { type NatsServers, startNatsServers } from '../../scripts/load/nats_servers.js';
import { findNatsServer } from '../../src/cli/demo/find_nats_server.js';
import type { Measurement } from '../harness/row.js';

/** The roles of node 1 and node 2. The servers have a user for each node. */
const ROLES = ['aggregator', 'edge'] as const;

/**
 * Runs a measurement with new NATS servers with `sync_interval: always`. Without a nats-server program, the measurement reports the
 * missing program.
 */
export async function withNatsServers(
  count: number,
  run: (servers: NatsServers) => Promise<Measurement>,
): Promise<Measurement> {
  const binary = findNatsServer();
  if (binary === undefined)
    return { figures: {}, missing: 'it needs a nats-server, which `scripts/nats_server.sh` fetches' };
  const servers = await startNatsServers({ binary, count, roles: ROLES, syncAlways: true });
  try {
    return await run(servers);
  } finally {
    await servers.stop();
  }
}
