import { publisherKeys, SERVICE_KEY } from '../../scripts/load/keys.js';
import { eip191, isSignedBy } from '../../src/crypto/evm.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import { loadNativeSecp256k1 } from '../../src/crypto/secp256k1/secp256k1_native.js';
import type { Secp256k1 } from '../../src/crypto/secp256k1/secp256k1_operations.js';
import { EcdsaBatch } from '../../src/crypto/wasm/ecdsa_batch.js';
import type { Measurement, Row, Scale } from '../harness/row.js';
import { callsPerCpuSecond } from '../harness/stage.js';
import { measureGo } from '../peers/go.js';

const SIGNATURES = 256;

export const signatures: Row = {
  name: 'signatures',
  title: 'secp256k1 signatures per second and core',
  method:
    'Sign 32 bytes, and recover the public key of a signature, with what the service found on this machine; the check of the first ' +
    'updates of a publisher recovers the key and compares its address. Those of keys that are known by then are verified in batches, in WebAssembly. Against the libsecp256k1 of 2019 in the npm package, ' +
    'and against the binding of go-ethereum, which contains a libsecp256k1 of its own.',
  rounds: 5,
  variants: {
    service: async (scale) => {
      const { figures } = measure(scale, secp256k1);
      return { figures: { ...figures, ...batchFigures(scale) } };
    },
    'npm package': async (scale) => {
      const native = loadNativeSecp256k1();
      return native === undefined
        ? { figures: {}, missing: 'no build for this platform' }
        : measure(scale, native);
    },
    Go: async (scale) => measureGo(scale, { sign: ['sign', '0'], recover: ['recover', '0'] }),
  },
  lines: () => [
    ...(['sign', 'recover'] as const).map((figure) => ({
      name: figure,
      unit: 'signatures/s per core',
      ours: { variant: 'service', figure },
      peers: [
        { name: 'npm package', source: { variant: 'npm package', figure } },
        { name: figure === 'recover' ? 'Go, with the address' : 'Go', source: { variant: 'Go', figure } },
      ],
      shown:
        figure === 'recover'
          ? [{ name: 'with the address', unit: '/s', source: { variant: 'service', figure: 'check' } }]
          : [],
    })),
    ...BATCHES.map((size) => ({
      name: `verify under known keys, ${size} at once`,
      unit: 'signatures/s per core',
      ours: { variant: 'service', figure: `batch of ${size}` },
      peers: [{ name: 'Go, recover, with the address', source: { variant: 'Go', figure: 'recover' } }],
    })),
  ],
};

const BATCHES = [5, 50];
const KEYS = 5;

/** Measures batches. Each call verifies a batch; the figures count signatures. */
function batchFigures(scale: Scale): Readonly<Record<string, number>> {
  const batch = new EcdsaBatch(KEYS);
  const signed = Array.from({ length: SIGNATURES }, (_, i) => {
    const { secretKey } = publisherKeys('evm', i % KEYS);
    if (i < KEYS) batch.learn(i, secp256k1.publicKey(secretKey));
    const digest = eip191(Buffer.alloc(32, i));
    return { key: i % KEYS, digest, ...secp256k1.sign(digest, secretKey) };
  });
  let at = 0;
  const figures: Record<string, number> = {};
  for (const size of BATCHES) {
    const batches = callsPerCpuSecond(scale, () => {
      for (let i = 0; i < size; i++) {
        const { key, digest, signature, recovery } = signed[at++ % SIGNATURES]!;
        batch.add(key, digest, signature, recovery);
      }
      if (batch.verify().includes(false)) throw new Error('a signature is not valid');
    });
    figures[`batch of ${size}`] = batches * size;
  }
  return figures;
}

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
