import { move, Piscina, transferableSymbol, valueSymbol } from 'piscina';
import { BlockRowsEncoder, type BlockRowsOptions } from './block_rows.js';
import type { PackedBlock } from './packed_block.js';

// The program of each thread of an export.

const encoder = new BlockRowsEncoder(Piscina.workerData as BlockRowsOptions);

/** Verifies blocks and encodes their aggregates. The bytes move to the caller. */
export function encode(blocks: readonly PackedBlock[]): unknown {
  const rows = encoder.encode(blocks);
  return move({ [transferableSymbol]: rows.bytes.buffer, [valueSymbol]: rows });
}
