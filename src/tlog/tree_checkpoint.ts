import { isEqual, linesOf, readDecimal, toBase64 } from './log_text.js';
import { TlogError } from './tlog_error.js';
import { emptyRoot, readHash } from './tree_hash.js';
import type { TreeHead } from './tree_proofs.js';

/** The head of the tree of a named log. */
export interface LogHead extends TreeHead {
  /** The name of the log: its address without the scheme. */
  readonly origin: string;
}

/** The text of a checkpoint: C2SP tlog-checkpoint. */
export interface Checkpoint extends LogHead {
  /** Additional lines. This program writes no additional lines. */
  readonly extensions: readonly string[];
}

/** Reads the text of a checkpoint's note. @throws TlogError when the text is malformed */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin = '', sizeText = '', rootText = '', ...extensions] = linesOf(text, 'the checkpoint');
  if (origin === '' || extensions.includes('')) throw new TlogError('the checkpoint has an empty line');
  const size = readDecimal(sizeText);
  if (size === undefined) throw new TlogError("the checkpoint's second line is not a tree size");
  const root = readHash(rootText, "the checkpoint's third line");
  if (size === 0n && !isEqual(root, emptyRoot()))
    throw new TlogError('the checkpoint of an empty tree has the root of another tree');
  return { origin, size, root, extensions };
}

/** Returns the text of a checkpoint without extension lines. */
export function formatCheckpoint({ origin, size, root }: LogHead): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`;
}
