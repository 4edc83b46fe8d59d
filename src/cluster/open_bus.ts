import type { NatsBus } from './nats/nats_bus.js';
import type { NatsOptions } from './nats/nats_options.js';

/**
 * Connects to the servers of a cluster. A process without a cluster never loads the NATS client.
 * @throws Error whose message is one sentence
 */
export async function openBus(options: NatsOptions): Promise<NatsBus> {
  const { openNatsBus } = await import('./nats/nats_bus.js');
  return openNatsBus(options);
}
