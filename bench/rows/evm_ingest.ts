import { createRequire } from 'node:module';
import { publisherKeys } from '../../scripts/load/keys.js';
import { eip191, evmAddress } from '../../src/crypto/evm.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import type { Figures, Line, Measurement, Row, Scale } from '../harness/row.js';
import { callsPerCpuSecond } from '../harness/stage.js';
import { addCores, coresOf } from '../harness/used_cores.js';
import { measureGo } from '../peers/go.js';
import { measureIngest } from '../workloads/ingest.js';

const ASSETS = 50;
const PUBLISHERS = 5;
export const UPDATES: Readonly<Record<Scale, number>> = { full: 60_000, smoke: 100 };
/**
 * The number of updates before the measurement, that V8 needs to compile the code on all measured threads. The first 12,000
 * updates cost 50 % more than later updates.
 */
export const WARM_UP_UPDATES: Readonly<Record<Scale, number>> = { full: 60_000, smoke: 50 };
const MESSAGE_SIZES: Readonly<Record<Scale, readonly number[]>> = { full: [50, 10, 1], smoke: [50] };
/** The smallest allowed ratio to the rate of our own loop. In messages of one update, the message weighs more. */
const loopRatioMin = (size: number) => (size === 1 ? 0.75 : 0.85);

export const evmIngest: Row = {
  name: 'evm-ingest',
  title: 'EVM updates accepted per second and core, over a socket',
  method:
    'Five publishers send real signed updates of 50 assets to the service as fast as it takes them, 3,000 at once. ' +
    'The figure is what it accepted by the CPU time of all its threads, of 60,000 updates after as many that are not counted, while V8 compiles. ' +
    'The service verifies in batches under keys that it knows, from tables, in WebAssembly. The loops recover a signature and compare the address, as a program does ' +
    'that keeps nothing between two signatures: one with the library that the service uses, one in Go with that of go-ethereum.',
  limit:
    'By a profile of messages of 50, three fifths of the CPU time verify. Half of that adds points, whose tables of 295 KB a key do not stay in the caches. ' +
    'Three tenths are other JavaScript with the functions of V8 and Node that it calls, and 3 % are the kernel.',
  rounds: 3,
  variants: {
    service: measureService,
    'recover loop': async (scale) => ({ figures: { calls: callsPerCpuSecond(scale, recoverOnce()) } }),
    'recover loop in Go': async (scale) => measureGo(scale),
  },
  lines: (scale) => MESSAGE_SIZES[scale].map(line),
};

function line(size: number): Line {
  const figure = `${size} per message`;
  return {
    name: figure,
    unit: 'updates/s per core',
    variant: 'service',
    figure,
    peers: [
      { variant: 'recover loop', figure: 'calls', ratio: { atLeast: loopRatioMin(size) } },
      {
        variant: 'recover loop in Go',
        figure: 'calls',
        ...(size === 50 && { ratio: { atLeast: 0.7 } }),
      },
    ],
    shown: coresOf('service', figure),
  };
}

async function measureService(scale: Scale): Promise<Measurement> {
  const figures: Figures = {};
  for (const updatesPerMessage of MESSAGE_SIZES[scale]) {
    const usage = await measureIngest({
      signatureType: 'evm',
      assets: ASSETS,
      publishers: PUBLISHERS,
      updatesPerMessage,
      updates: UPDATES[scale],
      warmUpUpdates: WARM_UP_UPDATES[scale],
    });
    const name = `${updatesPerMessage} per message`;
    figures[name] = usage.updatesPerCpuSecond;
    addCores(figures, name, usage);
  }
  return { figures };
}

/** Recovers the keys of many messages in turn, so that the loop does not use only one cache line. */
function recoverOnce(): () => void {
  const native = createRequire(import.meta.url)('secp256k1/bindings') as typeof import('secp256k1');
  const { secretKey, key } = publisherKeys('evm', 0);
  const signed = Array.from({ length: 256 }, (_, i) => {
    const digest = eip191(Buffer.alloc(32, i));
    return { digest, ...native.ecdsaSign(digest, secretKey) };
  });
  let at = 0;
  return () => {
    const { digest, signature, recid } = signed[at++ & 255]!;
    const publicKey = secp256k1.recover(digest, signature, recid as 0 | 1)!;
    if (!evmAddress(publicKey).equals(key)) throw new Error('another address was recovered');
  };
}
