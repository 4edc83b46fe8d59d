import { test } from 'tap';
import { checksumAddress } from '../../src/crypto/checksum_address.js';
import { evmAddress } from '../../src/crypto/evm.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import {
  hasOtherLogKey,
  identityOf,
  type Settings,
  signersOf,
  withFixedLogKey,
} from '../../src/service/settings.js';

test('a key of its own signs streaming payloads where there is one', async (t) => {
  const evm = Buffer.alloc(32, 1);
  const stream = Buffer.alloc(32, 2);
  const addressOf = (key: Buffer) => checksumAddress(evmAddress(secp256k1.publicKey(key)));
  const always = { fromNs: 0n, untilNs: undefined };
  const signer = { publicKeys: { evm: [{ text: addressOf(evm), ...always }], stark: [] } };
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
  const keysOf = (keys: object) =>
    identityOf({ keys } as unknown as Settings).streamKeys.map(({ key }) => key);
  t.same(keysOf({ evm }), [evm]);
  t.same(keysOf({ evm, stream }), [stream]);
});

test('a reload leaves the key of the public log', async (t) => {
  const [evm, log, other] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];
  t.equal(hasOtherLogKey({ evm, log }, { evm: other, log: Buffer.from(log) }), false);
  t.equal(hasOtherLogKey({ evm, log }, { evm, log: other }), true);
  t.equal(hasOtherLogKey({ evm, log }, { evm }), true);
  t.equal(hasOtherLogKey({ evm }, { evm, log }), true);
  t.equal(hasOtherLogKey({ evm }, { evm }), false);
  t.same(withFixedLogKey({ evm, log }, { evm: other, log: other }), { evm: other, log });
  t.same(withFixedLogKey({ evm }, { evm: other, log }), { evm: other });
});
