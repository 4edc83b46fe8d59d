import type { PayloadSignature } from './encoder.js';
import type { Group } from './group.js';

/** A frame of a group that lacks its signature. */
export interface UnsignedFrame {
  readonly group: Group;
  /** Of a frame that is alone a view, which the next body overwrites; of several frames each has its own bytes. */
  readonly body: Buffer;
  /** The price sequence of the body: it holds all changes up to it. */
  readonly sequence: number;
}

export interface FrameSigning {
  readonly digest: (body: Uint8Array) => Uint8Array;
  /** Signs a few at once, and many on other threads. */
  readonly sign: (
    digests: readonly Uint8Array[],
  ) => readonly PayloadSignature[] | Promise<readonly PayloadSignature[]>;
  readonly onSigned: (frame: UnsignedFrame, signature: PayloadSignature) => void;
  /** Without a signature there is no frame. */
  readonly onFailed: (group: Group) => void;
}

/** So few are signed at once, on the calling thread: the smallest frames of a tick do not wait for another thread. */
const FIRST_PIECE_FRAMES = 4;
/** Some 5 ms of signatures; a piece costs 40 µs of this thread. */
const PIECE_FRAMES = 128;

/** Puts the groups in the order in which they are served: small ones first, and of equal ones the one whose last frame is oldest. */
export function smallFirst(groups: Group[]): Group[] {
  return groups.sort(
    (one, other) => one.assets.length - other.assets.length || one.lastFrameNumber - other.lastFrameNumber,
  );
}

/** Signs the frames of one tick in pieces, in the order in which they come. Each piece goes out as soon as it is signed. */
export class FramePieces {
  readonly #signing: FrameSigning;
  #piece: UnsignedFrame[] = [];
  #size = FIRST_PIECE_FRAMES;

  constructor(signing: FrameSigning) {
    this.#signing = signing;
  }

  add(frame: UnsignedFrame): void {
    if (this.#piece.push(frame) === this.#size) this.finish();
  }

  /** Signs what is left. */
  finish(): void {
    if (this.#piece.length === 0) return;
    let frames = this.#piece;
    this.#piece = [];
    this.#size = PIECE_FRAMES;
    const { digest, sign, onSigned, onFailed } = this.#signing;
    const publish = (signatures: readonly PayloadSignature[]) => {
      frames.forEach((frame, i) => {
        frame.group.signing = false;
        onSigned(frame, signatures[i]!);
      });
    };
    const signatures = sign(frames.map(({ body }) => digest(body)));
    if (!(signatures instanceof Promise)) {
      publish(signatures);
      return;
    }
    if (frames.length === 1) frames = frames.map((frame) => ({ ...frame, body: Buffer.from(frame.body) }));
    for (const { group } of frames) group.signing = true;
    signatures.then(publish, () => {
      for (const { group } of frames) {
        group.signing = false;
        onFailed(group);
      }
    });
  }
}
