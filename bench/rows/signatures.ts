import { publisherKeys, SERVICE_KEY } from '../../scripts/load/keys.js';
import { eip191, isSignedBy } from '../../src/crypto/evm.js';
import { secp256k1, systemSecp256k1 } from '../../src/crypto/secp256k1.js';
import { loadNativeSecp256k1 } from '../../src/crypto/secp256k1_native.js';
import type { Secp256k1 } from '../../src/crypto/secp256k1_operations.js';
import type { Measurement, Row, Scale } from '../harness/row.js';
import { callsPerCpuSecond } from '../harness/stage.js';
import { measureCompiled } from '../peers/compiled.js';

const SIGNATURES = 256;
/** Of the library's own rate, where the machine has one. */
const BARE_RATIO_MIN = 0.9;

export const signatures: Row = {
  name: 'signatures',
  title: 'secp256k1 signatures per second and core',
  method:
    'Sign 32 bytes, and recover the public key of a signature, with what the service found on this machine; a check of an ' +
    'update recovers the key and compares its address. Against the same library in a loop in C, against the libsecp256k1 of 2019 in the npm package, ' +
    'and against the binding of go-ethereum, which contains a libsecp256k1 of its own.',
  rounds: 5,
  variants: {
    service: async (scale) => measure(scale, secp256k1),
    'bare library': async (scale) =>
      systemSecp256k1.curve === undefined
        ? { figures: {}, missing: 'there is no libsecp256k1 on this machine' }
        : measureCompiled('C', scale, { sign: ['sign'], recover: ['recover'] }),
    'npm package': async (scale) => {
      const native = loadNativeSecp256k1();
      return native === undefined
        ? { figures: {}, missing: 'no build for this platform' }
        : measure(scale, native);
    },
    Go: async (scale) => measureCompiled('Go', scale, { sign: ['sign', '0'], recover: ['recover', '0'] }),
  },
  lines: () =>
    (['sign', 'recover'] as const).map((figure) => ({
      name: figure,
      unit: 'signatures/s per core',
      ours: { variant: 'service', figure },
      peers: [
        {
          name: 'bare library',
          source: { variant: 'bare library', figure },
          ratio: { atLeast: BARE_RATIO_MIN },
        },
        { name: 'npm package', source: { variant: 'npm package', figure } },
        { name: figure === 'recover' ? 'Go, with the address' : 'Go', source: { variant: 'Go', figure } },
      ],
      shown:
        figure === 'recover'
          ? [{ name: 'with the address', unit: '/s', source: { variant: 'service', figure: 'check' } }]
          : [],
    })),
};

function measure(scale: Scale, curve: Secp256k1): Measurement {
  const { secretKey, key: address } = publisherKeys('evm', 0);
  const signed = Array.from({ length: SIGNATURES }, (_, i) => {
    const digest = eip191(Buffer.alloc(32, i));
    return { digest, ...curve.sign(digest, secretKey) };
  });
  const room = Buffer.alloc(65);
  let at = 0;
  const next = () => signed[at++ % SIGNATURES]!;
  return {
    figures: {
      sign: callsPerCpuSecond(scale, () => curve.sign(next().digest, SERVICE_KEY)),
      recover: callsPerCpuSecond(scale, () => {
        const { digest, signature, recovery } = next();
        curve.recover(digest, signature, recovery, room);
      }),
      check: callsPerCpuSecond(scale, () => {
        const { digest, signature, recovery } = next();
        if (!isSignedBy(address, digest, signature, recovery)) throw new Error('a signature is not valid');
      }),
    },
  };
}
