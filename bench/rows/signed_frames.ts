import { createHash } from 'node:crypto';
import { SERVICE_KEY } from '../../scripts/load/keys.js';
import { KECCAK256_BYTES, keccak256Into } from '../../src/crypto/keccak.js';
import { createCryptoJobs } from '../../src/crypto/pool/jobs.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import { FrameEncoder } from '../../src/stream/encoder.js';
import { SignedBlock } from '../../src/stream/signed_block.js';
import type { Figures, Line, Measurement, Row, Scale } from '../harness/row.js';
import { callsPerCpuSecond } from '../harness/stage.js';
import { filledTable, STAGE_TIME_NS, sizeName } from '../workloads/stream_table.js';

/** The sizes of a frame in assets, with the smallest allowed ratio to the speed of bare signing. */
const TARGETS = [
  [1, 0.95],
  [10, 0.95],
  [100, 0.95],
  [1000, 0.9],
] as const;
const BARE = 'bare Keccak + sign';

export const signedFrames: Row = {
  name: 'signed-frames',
  title: 'Signed frames per second and core',
  method:
    'Encode the body, hash it, sign it and write the finished JSON frame, against Keccak-256 and secp256k1 alone on the ' +
    'same bytes.',
  limit:
    'Nearly all of a frame is its signature. The service makes it with version 0.8.0 of libsecp256k1, which ' +
    'scripts/secp256k1_library.sh builds, and the processor’s instructions for SHA-256, in 0.7 of the time of version 0.2.0, which Debian 12 has. By a profile of all four sizes, signing takes 67 % and Keccak-256 21 %, as in bare signing; encoding and writing the frame take 3 %, and 5 % are the clock and the loop of the bench.',
  rounds: 5,
  variants: {
    frames: async (scale) => measure(scale, encoded),
    [BARE]: async (scale) => measure(scale, bare),
  },
  lines: () =>
    TARGETS.map(([assets, atLeast]): Line => {
      const figure = sizeName(assets);
      const peers = [{ variant: BARE, figure, ratio: { atLeast } }];
      return { name: figure, unit: 'frames/s per core', variant: 'frames', figure, peers };
    }),
};

/** The measured work. `signature` returns one result, so that variants can be compared. */
interface Stage {
  readonly run: () => void;
  readonly signature: () => string;
}

function measure(scale: Scale, stageOf: (assets: number) => Stage): Measurement {
  const figures: Figures = {};
  const hashes: Record<string, string> = {};
  for (const [assets] of TARGETS) {
    const { run, signature } = stageOf(assets);
    figures[sizeName(assets)] = callsPerCpuSecond(scale, run);
    hashes[`signature of ${sizeName(assets)}`] = createHash('sha256').update(signature()).digest('hex');
  }
  return { figures, hashes };
}

function encoded(assets: number): Stage {
  const { table, indexes } = filledTable(assets);
  const { signOneEvm } = createCryptoJobs();
  const encoder = new FrameEncoder(table, 1);
  const block = new SignedBlock();
  const digest = new Uint8Array(KECCAK256_BYTES);
  const frame = () => {
    block.clear();
    keccak256Into(encoder.addSigned(block, indexes, STAGE_TIME_NS), digest, 0);
    return block.sign(0, signOneEvm(digest, SERVICE_KEY), 0);
  };
  return { run: frame, signature: () => /0x(.{130})/.exec(Buffer.from(frame()).toString())![1]! };
}

function bare(assets: number): Stage {
  const { table, indexes } = filledTable(assets);
  const body = Buffer.from(new FrameEncoder(table, 1).addSigned(new SignedBlock(), indexes, STAGE_TIME_NS));
  const [digest, signed] = [Buffer.alloc(KECCAK256_BYTES), Buffer.alloc(64)];
  const sign = () => {
    keccak256Into(body, digest, 0);
    return secp256k1.sign(digest, SERVICE_KEY, signed);
  };
  return {
    run: sign,
    signature() {
      const { signature, recovery } = sign();
      return `${Buffer.from(signature).toString('hex')}0${recovery}`;
    },
  };
}
