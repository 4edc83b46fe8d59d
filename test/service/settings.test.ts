import { test } from 'tap';
import { checksumAddress } from '../../src/crypto/checksum_address.js';
import { evmAddress } from '../../src/crypto/evm.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import { identityOf, type Settings, signersOf } from '../../src/service/settings.js';

test('a key of its own signs streaming payloads where there is one', async (t) => {
  const evm = Buffer.alloc(32, 1);
  const stream = Buffer.alloc(32, 2);
  const addressOf = (key: Buffer) => checksumAddress(evmAddress(secp256k1.publicKey(key)));
  const signer = { evmAddress: addressOf(evm), starkPublicKey: undefined };
  const roles = (keys: { readonly evm: Buffer; readonly stream?: Buffer }) =>
    signersOf({ signer, keys } as unknown as Settings, 7).map(({ address, role }) => [role, address]);
  t.same(roles({ evm }), [
    ['aggregate', addressOf(evm)],
    ['stream', addressOf(evm)],
  ]);
  t.same(roles({ evm, stream }), [
    ['aggregate', addressOf(evm)],
    ['stream', addressOf(stream)],
  ]);
  t.equal(identityOf({ keys: { evm } } as unknown as Settings).streamKey, evm);
  t.equal(identityOf({ keys: { evm, stream } } as unknown as Settings).streamKey, stream);
});
