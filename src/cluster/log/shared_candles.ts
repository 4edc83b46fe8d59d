/**
 * Blocks of candles for new nodes, whose history begins before the log. Each key has one block. A new block replaces the previous block of
 * its key.
 */
export interface SharedCandles {
  /**
   * Stores a block. Resolves once enough servers have stored it to survive any single failure.
   * @throws Error when it is unknown whether the servers have stored the block
   */
  put(key: CandleKey, bytes: Uint8Array): Promise<void>;
  /**
   * Reads every block, oldest first. With `prefix`, reads only blocks whose keys begin with these words. Blocks from the last seconds may
   * be missing.
   * @throws Error when no server answers
   */
  read(prefix?: CandleKey): AsyncIterable<KeyedCandles>;
}

/** The key of a block: one to eight words of letters, digits, `_` and `-`, such as `['425443555344', 'd', '20461']`. */
export type CandleKey = readonly string[];

export interface KeyedCandles {
  readonly key: CandleKey;
  readonly bytes: Uint8Array;
}
