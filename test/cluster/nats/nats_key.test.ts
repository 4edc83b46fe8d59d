import { nkeyAuthenticator } from '@nats-io/transport-node';
import { test } from 'tap';
import { natsKeyAuthenticator, newNatsKey } from '../../../src/cluster/nats/nats_key.js';

test('an NKey answers a challenge as the client of NATS does', async (t) => {
  for (let i = 0; i < 3; i++) {
    const { seed, publicKey } = newNatsKey();
    const answer = natsKeyAuthenticator(seed);
    const expected = nkeyAuthenticator(Buffer.from(seed));
    t.same(answer(`nonce ${i}`), expected(`nonce ${i}`));
    t.match(answer('x'), { nkey: publicKey });
    t.same(answer(), expected());
  }
});

test('a seed with a wrong letter is refused', async (t) => {
  const { seed } = newNatsKey();
  const wrong = `${seed.slice(0, 20)}${seed[20] === 'A' ? 'B' : 'A'}${seed.slice(21)}`;
  t.throws(() => natsKeyAuthenticator(wrong)('nonce'), /checksum/i);
});
