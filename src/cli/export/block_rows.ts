import { parseHexInteger } from '../../client/verify/bytes.js';
import type { KeptSigners } from '../../edge/kept_verifier.js';
import { type EncodedRows, type ExportFormat, type RowsEncoder, rowsEncoder } from '../exported_rows.js';
import { BlockVerifier } from './block_verifier.js';
import type { PackedBlock } from './packed_block.js';

/** The settings of an export, which a thread receives at its start. */
export interface BlockRowsOptions {
  readonly symbol: string;
  readonly detail: 'signature' | 'whole';
  readonly format: ExportFormat;
  readonly oracleId: string;
  /** The keys in hex; `undefined` to accept any signer. */
  readonly signers: readonly string[] | undefined;
}

/** The encoded rows of verified blocks. */
export interface BlockRows extends EncodedRows {
  /** The time and the key of the last aggregate. */
  readonly lastNs: bigint;
  readonly publicKey: string;
}

/** Verifies blocks and encodes their aggregates as rows of a file. */
export class BlockRowsEncoder {
  readonly #verifier: BlockVerifier;
  readonly #rows: RowsEncoder;

  constructor({ symbol, detail, format, oracleId, signers }: BlockRowsOptions) {
    this.#verifier = new BlockVerifier(symbol, { oracleId, isSigner: signerCheck(signers) });
    this.#rows = rowsEncoder(format, detail);
  }

  /**
   * @param blocks at least one block
   * @throws NotVerified
   */
  encode(blocks: readonly PackedBlock[]): BlockRows {
    let lastNs = 0n;
    let publicKey = '';
    for (const block of blocks) {
      for (const entry of this.#verifier.entriesOf(block)) {
        this.#rows.addKept(entry);
        lastNs = entry.timeNs;
        publicKey = entry.aggregate.publicKey;
      }
    }
    return { ...this.#rows.take(), lastNs, publicKey };
  }
}

/** Returns the check of an aggregate's key. @param signers keys in hex; `undefined` to accept any signer */
export function signerCheck(signers: readonly string[] | undefined): KeptSigners['isSigner'] {
  const keys = signers?.map(parseHexInteger);
  return (_, key) => keys === undefined || keys.includes(parseHexInteger(key));
}
