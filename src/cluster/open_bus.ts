import type { NatsBus } from './nats/bus.js';
import type { NatsOptions } from './nats/options.js';

/** Connects to the servers of a cluster. A process without a cluster never loads their client. @throws Error of one sentence */
export async function openBus(options: NatsOptions): Promise<NatsBus> {
  const { openNatsBus } = await import('./nats/bus.js');
  return openNatsBus(options);
}
