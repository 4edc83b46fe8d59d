import { createHash } from 'node:crypto';
import type { AssetIndex } from '../../src/model/asset.js';
import type { Price } from '../../src/model/price.js';
import { FrameEncoder } from '../../src/stream/encoder.js';
import type { Figures, Line, Measurement, Row, Scale } from '../harness/row.js';
import { callsPerCpuSecond } from '../harness/stage.js';
import { filledTable, STAGE_QUALITY, STAGE_TIME_NS, sizeName } from '../workloads/stream_table.js';

const SIZES = [1, 10, 100, 1000] as const;
/** The frame size and the smallest ratio at this size. */
const TARGET = { assets: 100, atLeast: 2.5 };
const STRINGIFY = 'JSON.stringify';

export const unsignedFrames: Row = {
  name: 'unsigned-frames',
  title: 'Unsigned frames per second and core',
  method:
    'The finished frame as bytes, with one price changed since the frame before, against `JSON.stringify` of an object in ' +
    'which the same price is changed, which gives a string.',
  rounds: 3,
  variants: {
    frames: async (scale) => measure(scale, encoded),
    [STRINGIFY]: async (scale) => measure(scale, stringified),
  },
  lines: () =>
    SIZES.map((assets): Line => {
      const figure = sizeName(assets);
      const ratio = assets === TARGET.assets && { ratio: { atLeast: TARGET.atLeast } };
      const peers = [{ variant: STRINGIFY, figure, ...ratio }];
      return { name: figure, unit: 'frames/s per core', variant: 'frames', figure, peers };
    }),
};

/** A way to make frames of some assets. */
interface Maker {
  change(asset: AssetIndex, price: Price): void;
  frame(): Uint8Array | string;
}

function measure(scale: Scale, makerOf: (assets: number) => Maker): Measurement {
  const figures: Figures = {};
  const hashes: Record<string, string> = {};
  for (const assets of SIZES) {
    const maker = makerOf(assets);
    const changes = pricesInTurn(assets);
    let round = 0;
    const changeNext = () => {
      const asset = (round % assets) as AssetIndex;
      maker.change(asset, changes[asset]![Math.floor(round++ / assets) % 2]!);
    };
    figures[sizeName(assets)] = callsPerCpuSecond(scale, () => {
      changeNext();
      maker.frame();
    });
    // After a pass through all assets, every variant has the same prices.
    for (round = 0; round < assets; ) changeNext();
    hashes[`frame of ${sizeName(assets)}`] = createHash('sha256').update(maker.frame()).digest('hex');
  }
  return { figures, hashes };
}

/**
 * Returns two prices of each asset, the second of which is the first of the table. The two texts have the same length, except for one
 * asset in a hundred.
 */
function pricesInTurn(assets: number): (readonly [Price, Price])[] {
  const { table, indexes } = filledTable(assets);
  return indexes.map((index) => {
    const price = table.price(index)!;
    return [(price + 1n) as Price, price];
  });
}

function encoded(assets: number): Maker {
  const { table, indexes } = filledTable(assets);
  const encoder = new FrameEncoder(table, 1);
  return {
    change: (asset, price) => table.set(asset, price, STAGE_QUALITY),
    frame: () => encoder.unsignedFrame(indexes, STAGE_TIME_NS),
  };
}

function stringified(assets: number): Maker {
  const { table, indexes } = filledTable(assets);
  const a = indexes.map((index) => ({ id: index, v: String(table.price(index)) }));
  // A double represents this time exactly, because the last digits of the time are zeros.
  const message = { type: 'unsigned', tax: 1, ts: Number(STAGE_TIME_NS), a };
  return {
    change(asset, price) {
      a[asset]!.v = String(price);
    },
    frame: () => JSON.stringify(message),
  };
}
