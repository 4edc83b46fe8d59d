import { PartedBody } from '../http/parted_body.js';
import { AskedIndex, type AskedText, lengthOf } from './asked_index.js';

/** The largest total size of the cached texts. */
export const ANSWERS_BYTES_MAX = 64 * 1024 * 1024;
/** The largest total size of the cached answers in parts. An answer with seven days of minutes has about 0.9 MB. */
const PARTED_BYTES_MAX = 16 * 1024 * 1024;
/** The longest answer that the cache keeps. A longer answer would displace too many others. */
export const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
/**
 * The approximate size of an entry without its texts. The largest part is the values that {@link Kept.isCurrent} compares for 100
 * assets.
 */
const ENTRY_BYTES = 4 * 1024;
/** The request text of an entry that has no answer yet. */
const NO_REQUEST: AskedText = { caller: '', path: '', query: '' };

/**
 * Encoded answers that stay correct for a while. Readers request the same assets many times between two signatures. For 100 assets, sending
 * the cached bytes is 9 times as fast as assembling them.
 *
 * All requests with the same answer share its key. A caller usually repeats exactly the same text. So the cache can also find an answer by
 * the text of the last request, before the request is parsed.
 */
export class AnswerCache {
  /** Answers by key. The least recently used answer comes first. */
  readonly #kept = new Map<string, Kept>();
  readonly #byAsked = new AskedIndex<Kept>();
  readonly #bytesMax: number;
  #newest: Kept | undefined;
  #bytes = 0;

  /** @param bytesMax the largest total size of the cached answers */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The approximate size of all cached answers. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Returns the cached answer to a request with the same text, if the answer is still current.
   * @param asked the caller and the request as received
   */
  findAsked(asked: AskedText): Uint8Array | undefined {
    const kept = this.#byAsked.get(asked);
    return kept && this.#usedAnswer(kept);
  }

  /** Returns the cached answer under a key, if the answer is still current. */
  find(key: string, asked: AskedText): Uint8Array | undefined {
    const kept = this.#kept.get(key);
    const body = kept && this.#usedAnswer(kept);
    if (body !== undefined) this.#setAsked(kept!, asked);
    return body;
  }

  /**
   * Stores an answer, and removes the least recently used answers if space is short.
   * @param key the meaning of the request: its caller, the path and the parameters
   * @param asked as in {@link findAsked}
   * @returns the body in bytes, or the parts of an answer that is too long
   */
  keep(
    key: string,
    asked: AskedText,
    answer: string | PartedBody,
    isCurrent: () => boolean,
  ): Uint8Array | PartedBody {
    const bytes = typeof answer === 'string' ? Buffer.from(answer) : answer;
    const before = this.#kept.get(key);
    if (before !== undefined) this.#forgetAnswer(before);
    if (bytes.length > ANSWER_BYTES_MAX) return bytes;
    const body = bytes instanceof PartedBody ? bytes.joined() : bytes;
    const kept = {
      key,
      asked: NO_REQUEST,
      body,
      isCurrent,
      bytes: body.length + 2 * key.length + ENTRY_BYTES,
    };
    this.#kept.set(key, kept);
    this.#newest = kept;
    this.#bytes += kept.bytes;
    this.#setAsked(kept, asked);
    for (const oldest of this.#kept.values()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#forgetAnswer(oldest);
    }
    return body;
  }

  /** Removes outdated answers. For 10,000 answers, this takes about a millisecond. */
  sweep(): void {
    for (const kept of this.#kept.values()) if (!kept.isCurrent()) this.#forgetAnswer(kept);
  }

  clear(): void {
    this.#kept.clear();
    this.#byAsked.clear();
    this.#newest = undefined;
    this.#bytes = 0;
  }

  #usedAnswer(kept: Kept): Uint8Array | undefined {
    if (!kept.isCurrent()) {
      this.#forgetAnswer(kept);
      return undefined;
    }
    if (kept !== this.#newest) {
      this.#kept.delete(kept.key);
      this.#kept.set(kept.key, kept);
      this.#newest = kept;
    }
    return kept.body;
  }

  #setAsked(kept: Kept, asked: AskedText): void {
    this.#byAsked.delete(kept.asked);
    this.#byAsked.set(asked, kept);
    const moreBytes = 2 * (lengthOf(asked) - lengthOf(kept.asked));
    kept.asked = asked;
    kept.bytes += moreBytes;
    this.#bytes += moreBytes;
  }

  #forgetAnswer(kept: Kept): void {
    this.#kept.delete(kept.key);
    this.#byAsked.delete(kept.asked);
    if (this.#newest === kept) this.#newest = undefined;
    this.#bytes -= kept.bytes;
  }
}

/** The caches of a server. The owner clears them when the routes or tokens change. */
export class CachedAnswers {
  readonly texts = new AnswerCache(ANSWERS_BYTES_MAX);
  /** The cache of answers in parts. They are long, and would displace the texts. */
  readonly parted = new AnswerCache(PARTED_BYTES_MAX);

  /** Removes outdated answers. */
  sweep(): void {
    this.texts.sweep();
    this.parted.sweep();
  }

  clear(): void {
    this.texts.clear();
    this.parted.clear();
  }
}

interface Kept {
  readonly key: string;
  /** The last request that received this answer. */
  asked: AskedText;
  readonly body: Uint8Array;
  readonly isCurrent: () => boolean;
  bytes: number;
}
