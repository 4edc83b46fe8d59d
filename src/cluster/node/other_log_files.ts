import type { PublicLogFacts } from '../../model/node_list.js';
import type { AskRecords, Ledger } from '../../publiclog/ledger/ledger.js';
import { batchPath } from '../../publiclog/ledger/ledger_folder.js';
import { parseBatchEntry } from '../../tlog/batch_entry.js';
import { splitRecords } from '../../tlog/price_record.js';
import { bundleOf, readBundle, TILE_WIDTH, tilePath } from '../../tlog/tiles.js';

/** The public log of the other nodes. Its files are not trusted without a checkpoint. */
export interface OtherLogFiles {
  /**
   * Returns the bytes of a public file; `undefined` when no other node has the file.
   * @throws Error when no node answers
   */
  read(path: string): Promise<Uint8Array | undefined>;
  /** Returns the facts about the log; `undefined` when no other node has a log. @throws Error when no node answers */
  facts(): Promise<PublicLogFacts | undefined>;
}

/** The number of copied records in memory after which they are written into the public files. */
const UNSEALED_RECORDS_MAX = 100_000n;

/** Returns a function that requests a batch's records from the other nodes. An expired batch has no records. */
export function recordsFrom(files: Pick<OtherLogFiles, 'read'>): AskRecords {
  return async (batch) => {
    const bytes = await files.read(batchPath(batch));
    return bytes && splitRecords(bytes);
  };
}

/**
 * Applies missing batches, up to a size, from the files of other nodes. The caller must compare the resulting tree with a signed tree.
 * @throws Error when the other nodes lack the batches too, or when no node answers
 */
export async function catchUp(
  ledger: Ledger,
  size: bigint,
  files: Pick<OtherLogFiles, 'read'>,
): Promise<void> {
  while (ledger.head.size < size) {
    const next = ledger.head.size;
    const bundle = bundleOf(next, size);
    const bytes = await files.read(tilePath(bundle));
    if (bytes === undefined) throw new Error(`no other node has ${tilePath(bundle)} of the public log`);
    let unsealed = 0n;
    for (const entry of readBundle(bytes, bundle.width).slice(Number(next % BigInt(TILE_WIDTH)))) {
      if (!(await ledger.apply(entry, recordsFrom(files))))
        throw new Error(`the entries of another node do not follow batch ${ledger.head.size - 1n}`);
      unsealed += parseBatchEntry(entry).records;
      if (unsealed < UNSEALED_RECORDS_MAX) continue;
      await ledger.seal();
      unsealed = 0n;
    }
    if (ledger.head.size === next) throw new Error(`another node sent no entry of batch ${next}`);
    await ledger.seal();
  }
}
