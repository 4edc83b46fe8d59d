import { test } from 'tap';
import { fromClone } from '../../src/config/clone.js';
import { parseConfig } from '../../src/config/load.js';
import { testConfig } from '../service/harness.js';

test('a configuration is the same after its way to another thread', async (t) => {
  const loaded = parseConfig(testConfig('/tmp'), 'test.yaml');
  if (!loaded.ok) throw new Error(loaded.errors.join('\n'));
  const { config } = loaded;
  const clone = fromClone(structuredClone(config));
  t.strictSame(clone, config);
  t.ok(config.tokens.length > 0 && clone.tokens.every(({ sha256 }) => Buffer.isBuffer(sha256)));
  t.ok(config.publishers.length > 0 && clone.publishers.every(({ key }) => Buffer.isBuffer(key)));
  t.notOk(Buffer.isBuffer(structuredClone(config).tokens[0]!.sha256), 'which it would not be by itself');
});
