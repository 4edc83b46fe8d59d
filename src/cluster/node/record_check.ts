import { decodeAcceptedInput } from '../../log/records/accepted_input.js';
import { decodeHolding } from '../../log/records/holding.js';
import { parseHex } from '../../model/hex.js';
import type { ForeignInput, InputVerifier } from '../../prices/input_verifier.js';
import { parseBatchEntry } from '../../tlog/batch_entry.js';
import { parseNote } from '../../tlog/signed_note.js';
import { parseCheckpoint } from '../../tlog/tree_checkpoint.js';
import type { LogBatch, LogEntry } from '../log/log_batch.js';

/**
 * Checks a record of the log against the publishers' signatures.
 * @returns the reason why the record is not authentic; `undefined` when each publisher has signed its input and each aggregate is between
 * its inputs
 */
export function recordFault({ entries }: LogBatch, verifier: InputVerifier): string | undefined {
  try {
    return verifier.faultOf(entries.flatMap(inputsOf));
  } catch (error) {
    // The decoders trust their input, and throw for bytes that no leader wrote.
    return error instanceof NotAuthentic ? error.message : `cannot be read: ${(error as Error).message}`;
  }
}

/** @returns the reason why the record's part of the public log is unreadable; `undefined` if it is readable */
export function publicLogFault({ entries }: LogBatch): string | undefined {
  try {
    for (const { publicLog, bytes } of entries) {
      if (publicLog === 'batch') parseBatchEntry(bytes);
      else if (publicLog === 'head') parseCheckpoint(Buffer.from(bytes).toString());
      else if (publicLog === 'checkpoint') parseCheckpoint(parseNote(bytes).text);
    }
    return undefined;
  } catch (error) {
    return `has a part of the public log that cannot be read: ${(error as Error).message}`;
  }
}

class NotAuthentic extends Error {
  override readonly name = 'NotAuthentic';
}

/** @throws Error when no leader can have written the entry */
function inputsOf({ symbol, signatureType, publisherKey, publicLog, bytes }: LogEntry): ForeignInput[] {
  if (publicLog !== undefined) return [];
  if (publisherKey !== undefined) {
    const { input } = decodeAcceptedInput(bytes);
    const key = parseHex(input.wire.publisherKey, publisherKey.length);
    if (key === undefined || !key.equals(publisherKey))
      throw new NotAuthentic(`has an input of ${symbol} under another key than its publisher's`);
    return [{ symbol, signatureType, input }];
  }
  const { aggregate } = decodeHolding(bytes);
  if (aggregate === undefined) return [];
  const { price, inputs } = aggregate;
  const isBetween = inputs.some((one) => one.price <= price) && inputs.some((one) => one.price >= price);
  if (!isBetween || aggregate.symbol !== symbol || aggregate.signatureType !== signatureType)
    throw new NotAuthentic(`has an aggregate of ${symbol} that its inputs do not give`);
  return inputs.map((input) => ({ symbol, signatureType, input }));
}
