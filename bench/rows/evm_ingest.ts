import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { publisherKeys } from '../../scripts/load/keys.js';
import { eip191, evmAddress } from '../../src/crypto/evm.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import { nobleSecp256k1 } from '../../src/crypto/secp256k1/secp256k1_noble.js';
import type { Secp256k1 } from '../../src/crypto/secp256k1/secp256k1_operations.js';
import { loadSystemSecp256k1 } from '../../src/crypto/secp256k1/secp256k1_system.js';
import type { Line, Measurement, Row, Scale } from '../harness/row.js';
import { callsPerCpuSecond } from '../harness/stage.js';
import { measureGo } from '../peers/go.js';
import { measureIngest } from '../workloads/ingest.js';

const ASSETS = 50;
const PUBLISHERS = 5;
/** The number of updates in a message, for the lines with threads that share cores. */
const CORES_MESSAGE_SIZE = 50;

export const evmIngest: Row = {
  name: 'evm-ingest',
  title: 'EVM updates accepted per second and core, over a socket',
  method:
    'Five publishers send real signed updates of 50 assets to the service as fast as it takes them, 3,000 at once; the ' +
    'figure is what it accepted by the CPU time of all its threads, of 60,000 updates after as many that are not counted: a service runs for ' +
    'days, and V8 still compiles a few seconds after the start. The service verifies in batches under keys that it knows: by a sum of ' +
    'multiples of the key and the generator from tables, in WebAssembly. The loops recover a signature and compare the address, ' +
    'which is what a program does that keeps nothing between two signatures: one with the library that the service uses, one with the one that the system comes with, one in Go with that ' +
    'of go-ethereum, one with noble. A last loop only verifies under a known key. Without a native library the same service finds neither ' +
    'that of the machine nor that of the npm package. ' +
    'With one core and with two, the service is held to as many, and the figure is what it accepted in a second of wall time; ' +
    'that is not judged when other programs use the cores.',
  limit:
    'By a profile (`perf`) of messages of 50, three fifths of the CPU time verify: half of it adds points, whose tables of 295 KB a key do not stay in the ' +
    'caches of a core beside all else. Three tenths are other JavaScript and the functions of V8 and Node that it calls (2 % collect objects), 3 % are the kernel. With ' +
    'a message of its own for each update, those of one turn of the event loop are verified together, and what reads a message weighs more. ' +
    'Two cores have one thread each to verify, and one of them reads as well: what is on their way is divided in pieces of up to 5 ms, and ' +
    'the last of them keeps one core alone.',
  rounds: 3,
  variants: {
    service: (scale) => overSocket(scale, UPDATES[scale], WARM_UP_UPDATES[scale], ''),
    'recover loop': async (scale) => loop(scale, recoverOnce(secp256k1)),
    'recover loop of the system': async (scale) => {
      const { curve } = loadSystemSecp256k1(undefined);
      return curve === undefined
        ? { figures: {}, missing: 'this system has no libsecp256k1' }
        : loop(scale, recoverOnce(curve));
    },
    'Go recover loop': async (scale) => measureGo(scale, { calls: ['recover', '0'] }),
    'verify loop': async (scale) => loop(scale, verifyOnce()),
    'recover loop on noble': async (scale) => loop(scale, recoverOnce(nobleSecp256k1)),
    'service without a native library': (scale) =>
      overSocket(scale, UPDATES[scale], WARM_UP_UPDATES[scale], `--import ${WITHOUT_NATIVE}`),
    'one core': (scale) => onCores(scale, 1),
    'two cores': (scale) => onCores(scale, 2),
  },
  lines: (scale) => [...MESSAGE_SIZES[scale].map((size) => line(size)), coresLine()],
};

const UPDATES: Readonly<Record<Scale, number>> = { full: 60_000, smoke: 100 };
/**
 * The number of updates before the measurement, that V8 needs to compile the code on all measured threads. The first 12,000
 * updates cost 50 % more than later updates.
 */
const WARM_UP_UPDATES: Readonly<Record<Scale, number>> = { full: 60_000, smoke: 50 };
/**
 * The number of measured updates for the lines about cores. The bench sends the same number of updates before the measurement, because
 * these lines compare the service with itself.
 */
const CORES_UPDATES: Readonly<Record<Scale, number>> = { full: 30_000, smoke: 50 };
const MESSAGE_SIZES: Readonly<Record<Scale, readonly number[]>> = { full: [50, 10, 1], smoke: [50] };
/** The smallest allowed ratio to the rate of our own loop. In messages of one update, the message weighs more. */
const loopRatioMin = (size: number) => (size === 1 ? 0.75 : 0.85);
const TWO_CORES_RATIO_MIN = 1.7;
/** The core usage of other programs above which the bench does not judge the lines about cores. */
const OTHERS_SHARE_MAX = 0.2;
const WITHOUT_NATIVE = new URL('../peers/without_native.js', import.meta.url).href;

function line(size: number): Line {
  const figure = `${size} per message`;
  return {
    name: figure,
    unit: 'updates/s per core',
    ours: { variant: 'service', figure },
    peers: [
      {
        name: 'loop of recover + address',
        source: { variant: 'recover loop', figure: 'calls' },
        ratio: { atLeast: loopRatioMin(size) },
      },
      {
        name: 'the same with the system’s own library',
        source: { variant: 'recover loop of the system', figure: 'calls' },
      },
      {
        name: 'loop of recover + address in Go',
        source: { variant: 'Go recover loop', figure: 'calls' },
        ...(size === 50 && { ratio: { atLeast: 0.7 } }),
      },
      { name: 'loop of verify in the npm package', source: { variant: 'verify loop', figure: 'calls' } },
      {
        name: 'loop of recover + address on noble',
        source: { variant: 'recover loop on noble', figure: 'calls' },
        ratio: { atLeast: 25 },
      },
      {
        name: 'same service without a native library',
        source: { variant: 'service without a native library', figure },
      },
    ],
    shown: [
      { name: 'server', unit: 'cores', source: { variant: 'service', figure: `${figure}: server cores` } },
      { name: 'client', unit: 'cores', source: { variant: 'service', figure: `${figure}: client cores` } },
    ],
  };
}

function coresLine(): Line {
  return {
    name: `${CORES_MESSAGE_SIZE} per message, two cores`,
    unit: 'updates/s',
    ours: { variant: 'two cores', figure: 'updates/s' },
    peers: [
      {
        name: 'one core',
        source: { variant: 'one core', figure: 'updates/s' },
        ratio: { atLeast: TWO_CORES_RATIO_MIN },
      },
    ],
    shown: [{ name: 'server', unit: 'cores', source: { variant: 'two cores', figure: 'server cores' } }],
  };
}

async function onCores(scale: Scale, count: 1 | 2): Promise<Measurement> {
  if (spawnSync('taskset', ['--version']).status !== 0)
    return { figures: {}, missing: 'it needs taskset of util-linux' };
  if (availableParallelism() < 2) return { figures: {}, missing: 'this machine has one core' };
  const usage = await measureIngest({
    signatureType: 'evm',
    assets: ASSETS,
    publishers: PUBLISHERS,
    updatesPerMessage: CORES_MESSAGE_SIZE,
    updates: CORES_UPDATES[scale],
    warmUpUpdates: CORES_UPDATES[scale],
    cores: count === 1 ? '0' : '0,1',
  });
  if (scale === 'full' && usage.othersShare > OTHERS_SHARE_MAX)
    return { figures: {}, missing: 'other programs used the cores' };
  const updatesPerSecond = CORES_UPDATES[scale] / usage.wallSeconds;
  return { figures: { 'updates/s': updatesPerSecond, 'server cores': usage.serverShare } };
}

async function overSocket(
  scale: Scale,
  updates: number,
  warmUpUpdates: number,
  nodeOptions: string,
): Promise<Measurement> {
  const figures: Record<string, number> = {};
  for (const updatesPerMessage of MESSAGE_SIZES[scale]) {
    const usage = await measureIngest({
      signatureType: 'evm',
      assets: ASSETS,
      publishers: PUBLISHERS,
      updatesPerMessage,
      updates,
      warmUpUpdates,
      nodeOptions,
    });
    const name = `${updatesPerMessage} per message`;
    figures[name] = usage.updatesPerCpuSecond;
    figures[`${name}: server cores`] = usage.serverShare;
    figures[`${name}: client cores`] = usage.clientShare;
  }
  return { figures };
}

function loop(scale: Scale, once: () => void): Measurement {
  return { figures: { calls: callsPerCpuSecond(scale, once) } };
}

/** The npm package, whose binding can also verify signatures. */
const native = createRequire(import.meta.url)('secp256k1/bindings') as typeof import('secp256k1');

/** Makes the digests, signatures and keys of many messages, so that a loop does not use only one cache line. */
function signedDigests() {
  const { secretKey, key } = publisherKeys('evm', 0);
  return Array.from({ length: 256 }, (_, i) => {
    const digest = eip191(Buffer.alloc(32, i));
    const { signature, recid } = native.ecdsaSign(digest, secretKey);
    return { digest, signature, recid, address: key, publicKey: native.publicKeyCreate(secretKey, false) };
  });
}

function recoverOnce(curve: Secp256k1): () => void {
  const signed = signedDigests();
  let at = 0;
  return () => {
    const { digest, signature, recid, address } = signed[at++ & 255]!;
    const publicKey = curve.recover(digest, signature, recid as 0 | 1)!;
    if (!evmAddress(publicKey).equals(address)) throw new Error('another address was recovered');
  };
}

function verifyOnce(): () => void {
  const signed = signedDigests();
  let at = 0;
  return () => {
    const { digest, signature, publicKey } = signed[at++ & 255]!;
    if (!native.ecdsaVerify(signature, digest, publicKey)) throw new Error('a signature is not valid');
  };
}
