import { test } from 'tap';
import type { Config } from '../../src/config/config.js';
import { usesStark } from '../../src/config/stark_use.js';

test('an asset or a publisher can be the only one with Stark signatures', async (t) => {
  const evm = [{ signatureType: 'evm' }];
  const stark = [{ signatureType: 'evm' }, { signatureType: 'stark' }];
  const answer = (assets: object[], publishers: object[]) =>
    usesStark({ assets, publishers } as unknown as Config);
  t.notOk(answer(evm, evm));
  t.ok(answer(stark, evm));
  t.ok(answer(evm, stark));
});
