/**
 * Blocks of candles for new nodes whose history begins before the log. Each key has one block. A new block replaces the earlier block
 * of its key.
 */
export interface SharedCandles {
  /**
   * Resolves when enough servers have stored the block that no single failure can lose the block.
   * @throws Error when this is unknown
   */
  put(key: CandleKey, bytes: Uint8Array): Promise<void>;
  /**
   * Reads every block, oldest first. With `prefix`, reads only the blocks whose keys begin with these words. The newest blocks,
   * of the last seconds, may be missing.
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
