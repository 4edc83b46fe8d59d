import type { Test } from 'tap';
import { type NatsServers, startNatsServers } from '../../../scripts/load/nats_servers.js';
import { findNatsServer } from '../../../src/cli/demo/find_nats_server.js';
import { type NatsBus, openNatsBus } from '../../../src/cluster/nats/nats_bus.js';
import type { NatsOptions } from '../../../src/cluster/nats/nats_options.js';

const NO_SERVER = 'no nats-server: scripts/nats_server.sh fetches one, or TICKSEAL_NATS_SERVER names one';

/**
 * Returns the options of a test that needs real servers. Without servers the test is skipped, but with `CI=true` it fails.
 */
export function needsNatsServer(env: NodeJS.ProcessEnv = process.env): { readonly skip: string | false } {
  return { skip: findNatsServer(env) === undefined && env['CI'] !== 'true' && NO_SERVER };
}

/** Starts servers that end with the test. */
export async function natsServers(t: Test, count: number, settings = ''): Promise<NatsServers> {
  const binary = findNatsServer();
  if (binary === undefined) throw new Error(NO_SERVER);
  const servers = await startNatsServers({ binary, count, settings });
  t.teardown(() => servers.stop());
  return servers;
}

/** Connects a bus. The bus is closed when the test ends, before the servers stop. */
export async function natsBus(
  t: Test,
  servers: readonly string[],
  options: Partial<NatsOptions> = {},
): Promise<NatsBus> {
  const bus = await openNatsBus(natsOptions(servers, options));
  t.teardown(() => bus.close());
  return bus;
}

export function natsOptions(servers: readonly string[], options: Partial<NatsOptions> = {}): NatsOptions {
  return {
    name: 'main',
    role: 'aggregator',
    servers,
    replicas: servers.length > 1 ? 3 : 1,
    logRetentionMs: 1_200_000,
    candleRetentionMs: 86_400_000,
    startMsMax: 60_000,
    onNotice: () => {},
    ...options,
  };
}
