/** Blocks of candles for nodes that are newer than the log: one block for each key. A new block replaces the earlier one of its key. */
export interface SharedCandles {
  /** Resolves when enough servers have the block that none can lose it. @throws Error when that is unknown */
  put(key: CandleKey, bytes: Uint8Array): Promise<void>;
  /**
   * Reads every block, or only the blocks whose keys begin with the words of `prefix`, oldest first. Blocks of the last seconds
   * may be missing. @throws Error when no server answers
   */
  read(prefix?: CandleKey): AsyncIterable<KeyedCandles>;
}

/** The key of a block: one to eight words of letters, digits, `_` and `-`, such as `['425443555344', 'd', '20461']`. */
export type CandleKey = readonly string[];

export interface KeyedCandles {
  readonly key: CandleKey;
  readonly bytes: Uint8Array;
}
