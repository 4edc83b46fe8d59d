/** Blocks of candles for nodes that are newer than the log: one under each key, and what is put replaces what was there. */
export interface SharedCandles {
  /** Resolves when enough servers have it that none can lose it. @throws Error when that is not known */
  put(key: CandleKey, bytes: Uint8Array): Promise<void>;
  /**
   * Every block, or only those whose keys begin with the words of `prefix`, oldest first. What was put in the last seconds may be
   * missing. @throws Error when no server answers
   */
  read(prefix?: CandleKey): AsyncIterable<KeyedCandles>;
}

/** One to eight words of letters, digits, `_` and `-`, such as `['425443555344', 'd', '20461']`. */
export type CandleKey = readonly string[];

export interface KeyedCandles {
  readonly key: CandleKey;
  readonly bytes: Uint8Array;
}
