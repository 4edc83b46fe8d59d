import { natsAccounts } from '../../../src/cluster/nats/nats_accounts.js';

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
