import { createHash } from 'node:crypto';
import { FrameEncoder } from '../../src/stream/encoder.js';
import type { Line, Measurement, Row, Scale } from '../harness/row.js';
import { callsPerCpuSecond } from '../harness/stage.js';
import { frameByFrame, STAGE_TIME_NS, sizeName } from '../load/stream_stage.js';
import { filledTable } from '../load/stream_table.js';

const SIZES = [1, 10, 100, 1000] as const;
/** The size at which a ratio must be reached, and the ratio. */
const TARGET = { assets: 100, atLeast: 8 };

export const unsignedFrames: Row = {
  name: 'unsigned-frames',
  title: 'Unsigned frames per second and core',
  method:
    'The finished frame as bytes, against `JSON.stringify` of an object that is already there, which gives a string, and ' +
    'against the same with its string turned into bytes. The same with the stream engine around ours.',
  rounds: 3,
  variants: {
    frames: async (scale) => measure(scale, (assets) => ours(assets)),
    'JSON.stringify': async (scale) => measure(scale, (assets) => stringify(assets)),
    'JSON.stringify to bytes': async (scale) => measure(scale, (assets) => stringifyToBytes(assets)),
    engine: async (scale) => measure(scale, (assets) => engine(assets)),
  },
  lines: () => SIZES.map(line),
};

function line(assets: number): Line {
  const figure = sizeName(assets);
  const isTarget = assets === TARGET.assets;
  return {
    name: figure,
    unit: 'frames/s per core',
    ours: { variant: 'frames', figure },
    peers: [
      {
        name: 'JSON.stringify',
        source: { variant: 'JSON.stringify', figure },
        ...(isTarget && { ratio: { atLeast: TARGET.atLeast } }),
      },
      { name: 'JSON.stringify to bytes', source: { variant: 'JSON.stringify to bytes', figure } },
    ],
    shown: [{ name: 'whole tick', unit: 'frames/s per core', source: { variant: 'engine', figure } }],
  };
}

/** Makes a frame; what it returns is compared among variants. */
type MakeFrame = () => Uint8Array | string | undefined;

function measure(scale: Scale, stageOf: (assets: number) => MakeFrame): Measurement {
  const figures: Record<string, number> = {};
  const hashes: Record<string, string> = {};
  for (const assets of SIZES) {
    const make = stageOf(assets);
    figures[sizeName(assets)] = callsPerCpuSecond('frames', scale, make);
    const frame = make();
    if (frame !== undefined)
      hashes[`frame of ${sizeName(assets)}`] = createHash('sha256').update(frame).digest('hex');
  }
  return { figures, hashes };
}

function ours(assets: number): MakeFrame {
  const { table, indexes } = filledTable(assets);
  const encoder = new FrameEncoder(table, 1);
  return () => encoder.unsignedFrame(indexes, STAGE_TIME_NS);
}

function stringify(assets: number): () => string {
  const { table, indexes } = filledTable(assets);
  const a = indexes.map((index) => ({ id: index, v: String(table.price(index)) }));
  // This time has so many zeros at its end that a double holds it.
  const message = { type: 'unsigned', tax: 1, ts: Number(STAGE_TIME_NS), a };
  return () => JSON.stringify(message);
}

function stringifyToBytes(assets: number): MakeFrame {
  const text = stringify(assets);
  return () => Buffer.from(text());
}

function engine(assets: number): MakeFrame {
  let frames = 0;
  const tick = frameByFrame(assets, 'unsigned', () => frames++);
  return () => {
    tick();
    return undefined;
  };
}
