import { connect, type Msg, type NatsConnection } from '@nats-io/transport-node';
import type { Test } from 'tap';
import { natsAccounts } from '../../../src/cluster/nats/nats_accounts.js';
import type { NatsBus } from '../../../src/cluster/nats/nats_bus.js';
import { natsBus, natsServers } from './servers.js';

/** The `accounts` that cluster-init makes, with passwords: that of each node is `secret-` and the node's number. */
export const SHIPPED_ACCOUNTS = natsAccounts(
  'main',
  ([1, 2, 3, 4] as const).map((node) => ({
    node,
    role: node < 3 ? 'aggregator' : 'edge',
    login: { password: `secret-${node}` },
  })),
  { operator: { password: 'o-secret' }, system: { password: 's-secret' } },
);

/** Returns the credentials of a node for {@link SHIPPED_ACCOUNTS}: 1 and 2 are aggregators, 3 and 4 are edges. */
export function credentialsOf(node: number): string {
  return `node-${node}:secret-${node}`;
}

/** The nodes of a cluster on servers with the shipped accounts, and a thief with the credentials of edge 4. */
export interface Besieged {
  readonly urls: readonly string[];
  readonly leader: NatsBus;
  readonly standby: NatsBus;
  readonly edge: NatsBus;
  readonly thief: NatsConnection;
}

export async function besieged(t: Test, servers = 1): Promise<Besieged> {
  const { urls } = await natsServers(t, servers, SHIPPED_ACCOUNTS);
  const leader = await natsBus(t, urls, { credentials: credentialsOf(1) });
  const standby = await natsBus(t, urls, { credentials: credentialsOf(2) });
  const edge = await natsBus(t, urls, { role: 'edge', credentials: credentialsOf(3) });
  return { urls, leader, standby, edge, thief: await thiefOf(t, urls) };
}

/** Connects a separate client with the credentials of edge 4. */
export async function thiefOf(t: Test, servers: readonly string[]): Promise<NatsConnection> {
  const [user, pass] = credentialsOf(4).split(':');
  const thief = await connect({
    servers: [...servers],
    user: user!,
    pass: pass!,
    inboxPrefix: '_INBOX.edge',
  });
  t.teardown(() => thief.close());
  return thief;
}

/** Sends requests with a false reply subject. Resolves when the servers have handled all of them. */
export async function askInVain(
  thief: NatsConnection,
  requests: readonly [string, string][],
  text = '',
): Promise<void> {
  for (const [subject, reply] of requests) thief.publish(subject, text, { reply });
  // The servers handle the messages of a connection in order, and the answers come back in order.
  await thief.flush();
  await thief
    .request('$JS.API.STREAM.INFO.TS_MAIN_LOG', '', { timeout: 10_000 })
    .catch((): Msg | undefined => undefined);
}
