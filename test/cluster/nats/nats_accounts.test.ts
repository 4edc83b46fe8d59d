import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { type NatsUser, natsAccounts } from '../../../src/cluster/nats/nats_accounts.js';
import { ROOT } from '../../pages.js';

const STAFF = { operatorPassword: 'OPERATOR_PASSWORD_HASH', systemPassword: 'SYSTEM_PASSWORD_HASH' };

test('the shipped configuration of NATS servers has the accounts of two aggregators and two edges', async (t) => {
  const users = [1, 2, 3, 4].map(
    (node): NatsUser => ({
      node,
      role: node < 3 ? 'aggregator' : 'edge',
      login: { password: `NODE_${node}_PASSWORD_HASH` },
    }),
  );
  const text = readFileSync(join(ROOT, 'scripts/deploy/nats.conf'), 'utf8');
  t.equal(text.slice(text.indexOf('\naccounts {') + 1), natsAccounts('main', users, STAFF));
});
