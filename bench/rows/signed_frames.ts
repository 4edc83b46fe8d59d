import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { SERVICE_KEY } from '../../scripts/load/keys.js';
import { keccak256 } from '../../src/crypto/keccak.js';
import { FrameEncoder } from '../../src/stream/encoder.js';
import type { Line, Measurement, Row, Scale } from '../harness/row.js';
import { callsPerCpuSecond } from '../harness/stage.js';
import { frameByFrame, STAGE_TIME_NS, signPayload, sizeName } from '../workloads/stream_stage.js';
import { filledTable } from '../workloads/stream_table.js';

/** Sizes of a frame in assets, and the part of the bare speed that must be reached. */
const TARGETS = [
  [1, 0.9],
  [10, 0.9],
  [100, 0.9],
  [1000, 0.7],
] as const;

export const signedFrames: Row = {
  name: 'signed-frames',
  title: 'Signed frames per second and core',
  method:
    'Encode the body, hash it, sign it and write the finished JSON frame, against Keccak-256 and libsecp256k1 alone on the ' +
    'same bytes. The same with the stream engine around it: a tick of one 10 ms subscription to all assets.',
  rounds: 5,
  variants: {
    frames: async (scale) => measure(scale, (assets) => ours(assets)),
    'keccak + sign': async (scale) => measure(scale, (assets) => bare(assets)),
    engine: async (scale) => measure(scale, (assets) => engine(assets)),
  },
  lines: () => TARGETS.map(line),
};

function line([assets, atLeast]: (typeof TARGETS)[number]): Line {
  const figure = sizeName(assets);
  return {
    name: figure,
    unit: 'frames/s per core',
    ours: { variant: 'frames', figure },
    peers: [
      {
        name: 'bare Keccak + native sign',
        source: { variant: 'keccak + sign', figure },
        ratio: { atLeast },
      },
    ],
    shown: [{ name: 'whole tick', unit: 'frames/s per core', source: { variant: 'engine', figure } }],
  };
}

/** The work that is repeated, and one of its results where variants are compared. */
interface Stage {
  readonly run: () => void;
  readonly signature?: () => string;
}

function measure(scale: Scale, stageOf: (assets: number) => Stage): Measurement {
  const figures: Record<string, number> = {};
  const hashes: Record<string, string> = {};
  for (const [assets] of TARGETS) {
    const { run, signature } = stageOf(assets);
    figures[sizeName(assets)] = callsPerCpuSecond('frames', scale, run);
    if (signature)
      hashes[`signature of ${sizeName(assets)}`] = createHash('sha256').update(signature()).digest('hex');
  }
  return { figures, hashes };
}

function ours(assets: number): Stage {
  const { table, indexes } = filledTable(assets);
  const encoder = new FrameEncoder(table, 1);
  const frame = () => {
    const body = Buffer.from(encoder.payloadBody(indexes, STAGE_TIME_NS));
    return encoder.signedFrame(body, signPayload(keccak256(body)));
  };
  return { run: frame, signature: () => /0x(.{130})/.exec(frame().toString())![1]! };
}

function bare(assets: number): Stage {
  const { table, indexes } = filledTable(assets);
  const body = Buffer.from(new FrameEncoder(table, 1).payloadBody(indexes, STAGE_TIME_NS));
  const native = createRequire(import.meta.url)('secp256k1/bindings') as typeof import('secp256k1');
  const sign = () => native.ecdsaSign(keccak256(body), SERVICE_KEY);
  return {
    run: sign,
    signature() {
      const { signature, recid } = sign();
      return `${Buffer.from(signature).toString('hex')}0${recid}`;
    },
  };
}

function engine(assets: number): Stage {
  let frames = 0;
  return { run: frameByFrame(assets, 'signed_ecdsa', () => frames++) };
}
