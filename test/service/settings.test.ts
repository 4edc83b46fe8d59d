import { test } from 'tap';
import { checksumAddress } from '../../src/crypto/checksum_address.js';
import { evmAddress } from '../../src/crypto/evm.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import {
  identityOf,
  type Settings,
  signersOf,
  switchedLogs,
  withSameLogs,
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

test('a reload changes the keys of logs, and switches no log on or off', async (t) => {
  const [evm, log, other] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer];
  t.same(switchedLogs({ evm, log }, { evm: other, log: other }), []);
  t.same(switchedLogs({ evm, log }, { evm }), ['keys.log']);
  t.same(switchedLogs({ evm }, { evm, log, streamLog: log }), ['keys.log', 'keys.stream_log']);
  t.same(withSameLogs({ evm, log }, { evm: other, log: other }), { evm: other, log: other });
  t.same(withSameLogs({ evm, log }, { evm }), { evm, log });
  t.same(withSameLogs({ evm, streamLog: log }, { evm, log, streamLog: other }), { evm, streamLog: other });
  t.same(withSameLogs({ evm }, { evm: other, log: other }), { evm: other });
});
