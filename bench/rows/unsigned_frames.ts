import { createHash } from 'node:crypto';
import type { AssetIndex } from '../../src/model/asset.js';
import type { Price } from '../../src/model/price.js';
import { FrameEncoder } from '../../src/stream/encoder.js';
import type { PriceTable } from '../../src/stream/price_table.js';
import type { Line, Measurement, Row, Scale } from '../harness/row.js';
import { callsPerCpuSecond } from '../harness/stage.js';
import { frameByFrame, STAGE_TIME_NS, sizeName } from '../workloads/stream_stage.js';
import { filledTable, STAGE_QUALITY } from '../workloads/stream_table.js';

const SIZES = [1, 10, 100, 1000] as const;
/** The frame size and the smallest ratio at this size. */
const TARGET = { assets: 100, atLeast: 4 };

export const unsignedFrames: Row = {
  name: 'unsigned-frames',
  title: 'Unsigned frames per second and core',
  method:
    'The finished frame as bytes, with one price changed since the frame before, against `JSON.stringify` of an object in ' +
    'which the same price is changed, which gives a string, and against the same with its string turned into bytes. ' +
    'Beside it: the stream engine around a frame with none changed. With all prices changed, against `JSON.stringify` to bytes of an object ' +
    'in which all are changed too: there the table of prices makes the text of each price, which all other frames of the tick then use.',
  rounds: 3,
  variants: {
    frames: async (scale) => measure(scale, encoded),
    'JSON.stringify': async (scale) => measure(scale, stringify),
    'JSON.stringify to bytes': async (scale) => measure(scale, stringifyToBytes),
    'all changed': async (scale) => measure(scale, allChanged),
    'all changed, JSON.stringify to bytes': async (scale) => measure(scale, allStringified),
    engine: async (scale) => measure(scale, engine),
  },
  lines: () => [...SIZES.map(line), ...SIZES.map(allChangedLine)],
};

function line(assets: number): Line {
  const figure = sizeName(assets);
  const isTarget = assets === TARGET.assets;
  const unit = 'frames/s per core';
  return {
    name: figure,
    unit,
    ours: { variant: 'frames', figure },
    peers: [
      {
        name: 'JSON.stringify',
        source: { variant: 'JSON.stringify', figure },
        ...(isTarget && { ratio: { atLeast: TARGET.atLeast } }),
      },
      { name: 'JSON.stringify to bytes', source: { variant: 'JSON.stringify to bytes', figure } },
    ],
    shown: [{ name: 'whole tick', unit, source: { variant: 'engine', figure } }],
  };
}

function allChangedLine(assets: number): Line {
  const figure = sizeName(assets);
  return {
    name: `${figure}, all prices changed`,
    unit: 'frames/s per core',
    ours: { variant: 'all changed', figure },
    peers: [
      {
        name: 'JSON.stringify to bytes',
        source: { variant: 'all changed, JSON.stringify to bytes', figure },
      },
    ],
  };
}

/** Makes the frame of a round. One price differs from the previous round. */
type MakeFrame = (round: number) => Uint8Array | string | undefined;

function measure(scale: Scale, stageOf: (assets: number) => MakeFrame): Measurement {
  const figures: Record<string, number> = {};
  const hashes: Record<string, string> = {};
  for (const assets of SIZES) {
    const make = stageOf(assets);
    let round = 0;
    figures[sizeName(assets)] = callsPerCpuSecond(scale, () => make(round++));
    // After two passes through all assets, every variant has the same prices.
    for (round = 0; round < 2 * assets; round++) make(round);
    const frame = make(0);
    if (frame !== undefined)
      hashes[`frame of ${sizeName(assets)}`] = createHash('sha256').update(frame).digest('hex');
  }
  return { figures, hashes };
}

/**
 * Returns a function that alternates between an asset's two prices. The two texts have the same length, except for one asset in a
 * hundred.
 */
function priceOf(table: PriceTable, asset: AssetIndex): (turn: number) => Price {
  const first = table.price(asset)!;
  const second = (first + 1n) as Price;
  return (turn) => (turn % 2 === 0 ? second : first);
}

/** Changes the price of one asset after another. */
function changing(assets: number) {
  const { table, indexes } = filledTable(assets);
  const prices = indexes.map((index) => priceOf(table, index));
  return {
    table,
    indexes,
    changed(round: number): { readonly asset: AssetIndex; readonly price: Price } {
      const asset = (round % assets) as AssetIndex;
      return { asset, price: prices[asset]!(Math.floor(round / assets)) };
    },
  };
}

function encoded(assets: number): MakeFrame {
  const { table, indexes, changed } = changing(assets);
  const encoder = new FrameEncoder(table, 1);
  return (round) => {
    const { asset, price } = changed(round);
    table.set(asset, price, STAGE_QUALITY);
    return encoder.unsignedFrame(indexes, STAGE_TIME_NS);
  };
}

function allChanged(assets: number): MakeFrame {
  const { table, indexes, changed } = changing(assets);
  const encoder = new FrameEncoder(table, 1);
  let at = 0;
  return () => {
    for (let i = 0; i < assets; i++) {
      const { asset, price } = changed(at++);
      table.set(asset, price, STAGE_QUALITY);
    }
    encoder.unsignedFrame(indexes, STAGE_TIME_NS);
    return undefined;
  };
}

function stringify(assets: number): (round: number) => string {
  const { table, indexes, changed } = changing(assets);
  const message = messageOf(table, indexes);
  return (round) => {
    const { asset, price } = changed(round);
    message.a[asset]!.v = String(price);
    return JSON.stringify(message);
  };
}

function allStringified(assets: number): MakeFrame {
  const { table, indexes, changed } = changing(assets);
  const message = messageOf(table, indexes);
  let at = 0;
  return () => {
    for (let i = 0; i < assets; i++) {
      const { asset, price } = changed(at++);
      message.a[asset]!.v = String(price);
    }
    Buffer.from(JSON.stringify(message));
    return undefined;
  };
}

function messageOf(table: PriceTable, indexes: readonly AssetIndex[]) {
  const a = indexes.map((index) => ({ id: index, v: String(table.price(index)) }));
  // A double represents this time exactly, because the last digits of the time are zeros.
  return { type: 'unsigned', tax: 1, ts: Number(STAGE_TIME_NS), a };
}

function stringifyToBytes(assets: number): MakeFrame {
  const text = stringify(assets);
  return (round) => Buffer.from(text(round));
}

function engine(assets: number): MakeFrame {
  let frames = 0;
  const tick = frameByFrame(assets, 'unsigned', () => frames++);
  return () => {
    tick();
    return undefined;
  };
}
