import { PAYLOAD_SIGNATURE } from '../wire/payload_fields.js';
import type { Group } from './group.js';
import { SignedBlock } from './signed_block.js';

/** The functions that sign frames. Digests, and signatures, are concatenated without gaps. */
export interface FrameSigning {
  /** Writes the digest of a body into `out` at offset `at`. */
  readonly digest: (body: Uint8Array, out: Uint8Array, at: number) => void;
  /** Signs on the calling thread. @returns the 65 bytes of a payload signature, valid until the next call */
  readonly signOne: (digest: Uint8Array) => Uint8Array;
  /**
   * Signs few digests on the calling thread, and many digests on other threads.
   * @param digests must not change until they are signed
   */
  readonly sign: (digests: Uint8Array) => Uint8Array | Promise<Uint8Array>;
}

/** The callbacks that receive the results of signing. */
export interface FrameOutcome {
  /**
   * Called with a signed frame.
   * @param frame a view that is only valid during the call
   * @param sequence the price sequence up to which the frame has all changes
   */
  readonly onSigned: (group: Group, frame: Uint8Array, sequence: number) => void;
  /** Called when signing has failed. The frame is lost. */
  readonly onFailed: (group: Group) => void;
}

export const DIGEST_BYTES = 32;

/**
 * The number of frames in the first piece. The calling thread signs this piece, so that the smallest frames of a tick do not wait for
 * another thread.
 */
const FIRST_PIECE_FRAMES = 4;
/** The number of frames in a later piece. A piece takes about 5 ms on the signing thread, and 40 µs on this thread. */
const PIECE_FRAMES = 128;
/** The number of pieces that are kept for later frames. */
const SPARE_PIECES_MAX = 16;

/** Sorts the groups in the order of service: small groups first; among groups of equal size, the group with the oldest last frame first. */
export function smallFirst(groups: Group[]): Group[] {
  return groups.sort(
    (one, other) => one.assets.length - other.assets.length || one.lastFrameNumber - other.lastFrameNumber,
  );
}

/** Frames that are signed together, in one block. */
interface FramePart {
  readonly block: SignedBlock;
  readonly digests: Uint8Array;
  readonly groups: Group[];
  readonly sequences: number[];
}

/** Signs the frames of a tick in pieces, in the order of {@link add}. A piece is sent when its signatures are ready. */
export class FramePieces {
  readonly #signing: FrameSigning;
  readonly #outcome: FrameOutcome;
  readonly #spare: FramePart[] = [];
  #piece: FramePart = newPiece();
  #size = FIRST_PIECE_FRAMES;

  constructor(signing: FrameSigning, outcome: FrameOutcome) {
    this.#signing = signing;
    this.#outcome = outcome;
  }

  /** The block of the next frame. */
  get block(): SignedBlock {
    return this.#piece.block;
  }

  /** Adds a frame of the group. @param body the frame's body, not used after the call */
  add(group: Group, body: Uint8Array, sequence: number): void {
    const { digests, groups, sequences } = this.#piece;
    this.#signing.digest(body, digests, groups.length * DIGEST_BYTES);
    groups.push(group);
    sequences.push(sequence);
    if (groups.length === this.#size) this.#signPiece();
  }

  /** Signs the remaining frames of the tick. Must be called after the last {@link add}. */
  finish(): void {
    this.#signPiece();
    this.#size = FIRST_PIECE_FRAMES;
  }

  #signPiece(): void {
    const piece = this.#piece;
    const { groups } = piece;
    if (groups.length === 0) return;
    this.#piece = this.#spare.pop() ?? newPiece();
    this.#size = PIECE_FRAMES;
    const signatures = this.#signing.sign(piece.digests.subarray(0, groups.length * DIGEST_BYTES));
    if (!(signatures instanceof Promise)) {
      this.#reportSigned(piece, signatures);
      return;
    }
    for (const group of groups) group.signing = true;
    signatures.then(
      (all) => this.#reportSigned(piece, all),
      () => this.#reportFailed(piece),
    );
  }

  #reportSigned(piece: FramePart, signatures: Uint8Array): void {
    const { block, groups, sequences } = piece;
    for (let i = 0; i < groups.length; i++) {
      const group = groups[i]!;
      group.signing = false;
      this.#outcome.onSigned(group, block.sign(i, signatures, i * PAYLOAD_SIGNATURE.bytes), sequences[i]!);
    }
    this.#keepSpare(piece);
  }

  #reportFailed(piece: FramePart): void {
    for (const group of piece.groups) {
      group.signing = false;
      this.#outcome.onFailed(group);
    }
    this.#keepSpare(piece);
  }

  #keepSpare(piece: FramePart): void {
    piece.block.clear();
    piece.groups.length = 0;
    piece.sequences.length = 0;
    if (this.#spare.length < SPARE_PIECES_MAX) this.#spare.push(piece);
  }
}

function newPiece(): FramePart {
  return {
    block: new SignedBlock(),
    digests: new Uint8Array(PIECE_FRAMES * DIGEST_BYTES),
    groups: [],
    sequences: [],
  };
}
