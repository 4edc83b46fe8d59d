import { DIGEST_BYTES, type FrameSigning } from '../../stream/signed_frames.js';

/** The interval at which the hashes go to the log. A process that is killed loses the hashes of this time and of one tick. */
const SEND_MS = 100;
/** The largest number of hashes that wait for the interval. */
const HASHES_MAX = 2_048;

/** Collects the hashes of the payloads that one edge signs. */
export class SignedHashes {
  readonly #send: (hashes: Uint8Array) => void;
  readonly #nowMs: () => number;
  #bytes = new Uint8Array(HASHES_MAX * DIGEST_BYTES);
  #length = 0;
  #sentMs = 0;

  /**
   * @param send receives the hashes without gaps
   * @param nowMs returns the time of a monotonic clock
   */
  constructor(send: (hashes: Uint8Array) => void, nowMs: () => number) {
    this.#send = send;
    this.#nowMs = nowMs;
  }

  /** Copies the hash at an offset. */
  add(digests: Uint8Array, from: number): void {
    const { length } = this.#bytes;
    const at = this.#length;
    for (let i = 0; i < DIGEST_BYTES; i++) this.#bytes[at + i] = digests[from + i]!;
    this.#length = at + DIGEST_BYTES;
    if (this.#length === length) this.flush();
  }

  tick(): void {
    if (this.#length > 0 && this.#nowMs() - this.#sentMs >= SEND_MS) this.flush();
  }

  /** Sends all hashes now. */
  flush(): void {
    this.#sentMs = this.#nowMs();
    if (this.#length === 0) return;
    const hashes = this.#bytes.slice(0, this.#length);
    this.#length = 0;
    this.#send(hashes);
  }
}

/** Returns a digest of frames that also collects each hash. */
export function loggedDigest(
  digest: FrameSigning['digest'],
  hashes: Pick<SignedHashes, 'add'> | undefined,
): FrameSigning['digest'] {
  if (hashes === undefined) return digest;
  return (body, out, at) => {
    digest(body, out, at);
    hashes.add(out, at);
  };
}
