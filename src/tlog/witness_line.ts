import { ADD_CHECKPOINT_PATH, formatAddCheckpoint, readConflict } from './add_checkpoint.js';
import type { VerifyEd25519 } from './ed25519.js';
import type { Witness } from './log_policy.js';
import { readText, toBase64 } from './log_text.js';
import { verifySignatures } from './note_keys.js';
import { type NoteSignature, parseNote, parseSignatureLines } from './signed_note.js';
import { TlogError } from './tlog_error.js';
import { parseCheckpoint } from './tree_checkpoint.js';

/** The answer of a witness to a request. */
export interface WitnessAnswer {
  readonly status: number;
  readonly body: Uint8Array;
  /** The seconds in the header `Retry-After`, if present. */
  readonly retryAfterS?: number | undefined;
}

/**
 * Sends a request to a witness. Reads at most {@link WITNESS_ANSWER_BYTES_MAX} bytes of the answer, follows no redirect, and has a time
 * limit.
 * @throws Error when there is no answer
 */
export type PostToWitness = (url: string, body: string, signal: AbortSignal) => Promise<WitnessAnswer>;

export const WITNESS_ANSWER_BYTES_MAX = 64 * 1024;
/** The number of answers with status 409 to one checkpoint after which the witness counts as broken. */
const CONFLICTS_MAX = 4;

/** The result of asking a witness to cosign a checkpoint. */
export type WitnessResult =
  | { readonly kind: 'cosigned'; readonly signature: NoteSignature; readonly timeS: bigint }
  /** The witness reports a larger cosigned tree than the log's newest tree. The log may have lost data. */
  | { readonly kind: 'larger'; readonly size: bigint }
  /** The witness reports that the checkpoint does not continue the cosigned tree. */
  | { readonly kind: 'forked'; readonly reason: string }
  /** The witness refuses every checkpoint of this log, or does not support the request. */
  | { readonly kind: 'refused'; readonly status: number; readonly reason: string }
  /** No answer is usable now. */
  | { readonly kind: 'unavailable'; readonly reason: string; readonly retryAfterS?: number | undefined };

/** Returns the proof that the tree of `newer` entries begins with the tree of `older` entries, where `0 < older < newer`. */
export type ProveConsistency = (
  older: bigint,
  newer: bigint,
) => readonly Uint8Array[] | Promise<readonly Uint8Array[]>;

/** Requests cosignatures from one witness. Remembers the size of the last cosigned tree. */
export class WitnessLine {
  readonly witness: Witness & { readonly url: string };
  readonly #post: PostToWitness;
  readonly #prove: ProveConsistency;
  readonly #verify: VerifyEd25519;
  /** The size of the witness's last cosigned tree; `undefined` before the first answer. */
  #size: bigint | undefined;

  constructor(
    witness: Witness & { readonly url: string },
    post: PostToWitness,
    prove: ProveConsistency,
    verify: VerifyEd25519,
  ) {
    this.witness = witness;
    this.#post = post;
    this.#prove = prove;
    this.#verify = verify;
  }

  /** The size of the last cosigned tree, by the witness's answers; `undefined` before the first answer. */
  get size(): bigint | undefined {
    return this.#size;
  }

  /** Sends the request. After an answer with status 409, repeats the request with the size from that answer. Never throws. */
  async ask(note: string, signal: AbortSignal): Promise<WitnessResult> {
    try {
      const { size } = parseCheckpoint(parseNote(note).text);
      for (let conflicts = 0; conflicts < CONFLICTS_MAX; conflicts += 1) {
        const older = this.#size !== undefined && this.#size <= size ? this.#size : 0n;
        const answer = await this.#requestCosignature(note, older, size, signal);
        if (answer.status !== 409) return await this.#readAnswer(answer, note, size);
        const known = readConflict(answer.body);
        // A witness with an older version of tlog-witness answers 409 when its tree has the same size and a different root.
        if (older === size && (known === undefined || known === size))
          return { kind: 'forked', reason: `it has cosigned another tree of size ${size}` };
        if (known === undefined || known === older)
          return { kind: 'unavailable', reason: 'its answer 409 has no other size' };
        // The larger size is not stored, so the next request asks for it again.
        this.#size = known > size ? undefined : known;
        if (known > size) return { kind: 'larger', size: known };
      }
      return { kind: 'unavailable', reason: `it answered 409 ${CONFLICTS_MAX} times` };
    } catch (error) {
      return { kind: 'unavailable', reason: (error as Error).message };
    }
  }

  async #requestCosignature(
    note: string,
    older: bigint,
    size: bigint,
    signal: AbortSignal,
  ): Promise<WitnessAnswer> {
    const proof = older === 0n || older === size ? [] : await this.#prove(older, size);
    const url = `${this.witness.url.replace(/\/$/, '')}${ADD_CHECKPOINT_PATH}`;
    return this.#post(url, formatAddCheckpoint({ older, proof, note }), signal);
  }

  async #readAnswer(answer: WitnessAnswer, note: string, size: bigint): Promise<WitnessResult> {
    const { status, body, retryAfterS } = answer;
    if (status === 200) return this.#readCosignature(body, note, size);
    const reason = `it answers ${status}${quoted(body)}`;
    if (status === 422) return { kind: 'forked', reason };
    if (status === 400 || status === 403 || status === 404) return { kind: 'refused', status, reason };
    return { kind: 'unavailable', reason, retryAfterS };
  }

  /** Returns the line of the witness's key. Lines of other keys are skipped. */
  async #readCosignature(body: Uint8Array, note: string, size: bigint): Promise<WitnessResult> {
    const { key } = this.witness;
    const lines = parseSignatureLines(readText(body, WITNESS_ANSWER_BYTES_MAX, 'the answer'));
    const { text } = parseNote(note);
    for (const signature of lines) {
      const [verified] = await verifySignatures({ text, signatures: [signature] }, [key], this.#verify);
      if (verified?.timeS === undefined) continue;
      this.#size = size;
      return { kind: 'cosigned', signature, timeS: verified.timeS };
    }
    throw new TlogError(`its answer has no line of the key ${key.name}, ${toBase64(key.publicKey)}`);
  }
}

/** Returns the beginning of an answer's text for a log line, without control characters. */
function quoted(body: Uint8Array): string {
  const text = new TextDecoder()
    .decode(body.subarray(0, 200))
    .replace(/\p{C}+/gu, ' ')
    .trim();
  return text === '' ? '' : `: ${text}`;
}
