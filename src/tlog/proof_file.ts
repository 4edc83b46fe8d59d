import { fromBase64, readDecimal, readText, toBase64 } from './log_text.js';
import { TlogError } from './tlog_error.js';
import { readHash } from './tree_hash.js';
import { PROOF_HASHES_MAX } from './tree_proofs.js';

/** A proof that a log has an entry: the file `.tlog-proof` of C2SP tlog-proof. */
export interface ProofFile {
  /** The application's data, which no signature covers. */
  readonly extra?: Uint8Array | undefined;
  readonly index: bigint;
  readonly path: readonly Uint8Array[];
  /** The note of the checkpoint, verbatim. */
  readonly checkpoint: string;
}

const FIRST_LINE = 'c2sp.org/tlog-proof@v1';
/** The largest length: half for the note of the largest size, half for extra data. */
export const PROOF_LENGTH_MAX = 1024 * 1024;

/** Reads a proof file. @throws TlogError when the file is malformed */
export function parseProofFile(input: string | Uint8Array): ProofFile {
  const text = readText(input, PROOF_LENGTH_MAX, 'the proof');
  const end = text.indexOf('\n\n');
  if (end < 0) throw new TlogError('the proof has no checkpoint');
  const lines = text.slice(0, end).split('\n');
  if (lines.shift() !== FIRST_LINE) throw new TlogError(`the proof does not begin with ${FIRST_LINE}`);
  const extra = lines[0]?.startsWith('extra ') ? fromBase64(lines.shift()!.slice('extra '.length)) : null;
  if (extra === undefined) throw new TlogError("the proof's extra data is not Base64");
  const [, indexText = ''] = /^index (.*)$/.exec(lines.shift() ?? '') ?? [];
  const index = readDecimal(indexText);
  if (index === undefined) throw new TlogError('the proof has no index');
  if (lines.length > PROOF_HASHES_MAX)
    throw new TlogError(`the proof has more than ${PROOF_HASHES_MAX} hashes`);
  const path = lines.map((line, i) => readHash(line, `hash ${i} of the proof`));
  return { ...(extra !== null && { extra }), index, path, checkpoint: text.slice(end + 2) };
}

/** Returns the text that {@link parseProofFile} reads. */
export function formatProofFile({ extra, index, path, checkpoint }: ProofFile): string {
  const extraLine = extra === undefined ? '' : `extra ${toBase64(extra)}\n`;
  const hashes = path.map((hash) => `${toBase64(hash)}\n`).join('');
  return `${FIRST_LINE}\n${extraLine}index ${index}\n${hashes}\n${checkpoint}`;
}
