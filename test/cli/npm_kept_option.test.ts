import { test } from 'tap';
import { npmKeptOption } from '../../src/cli/npm_kept_option.js';

test('an option that npm kept for itself is named', async (t) => {
  const start = { npm_lifecycle_event: 'start' };
  const advice = (option: string) =>
    `npm kept ${option} for itself: put -- before the options, as in: npm start -- ${option} …`;
  t.equal(npmKeptOption({ ...start, npm_config_port: '8180' }), advice('--port'));
  t.equal(npmKeptOption({ ...start, npm_config_admin_port: 'true' }), advice('--admin-port'));
  t.equal(npmKeptOption({ ...start, npm_config_registry: 'x' }), undefined);
  t.equal(npmKeptOption({ npm_config_port: '8180' }), undefined, 'without npm start');
});
