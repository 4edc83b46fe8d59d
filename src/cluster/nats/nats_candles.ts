import { headers } from '@nats-io/transport-node';
import type { CandleKey, KeyedCandles, SharedCandles } from '../log/shared_candles.js';
import { readBatch } from './nats_batch.js';
import type { BusConnection } from './nats_connection.js';
import { type Names, SUBJECT_WORD } from './nats_options.js';

const PUT_MS_MAX = 5_000;
const READ_BLOCKS_MAX = 1_000;
const READ_BYTES_MAX = 8 * 1024 ** 2;
const KEY_WORDS_MAX = 8;

/** Blocks of candles. Each block is the only message of its subject. */
export class NatsCandles implements SharedCandles {
  readonly #connection: BusConnection;
  readonly #names: Names;

  constructor(connection: BusConnection, names: Names) {
    this.#connection = connection;
    this.#names = names;
  }

  async put(key: CandleKey, bytes: Uint8Array): Promise<void> {
    checkKey(key);
    if (key.length === 0) throw new RangeError('a key of the shelf has no word');
    const expected = headers();
    expected.set('Nats-Expected-Stream', this.#names.candleStream);
    const answer = await this.#connection.request(this.#names.candles(key), bytes, PUT_MS_MAX, expected);
    const { error } = answer.json<{ readonly error?: { readonly description: string } }>();
    if (error !== undefined)
      throw new Error(`the shelf did not take a block of candles: ${error.description}`);
  }

  async *read(prefix: CandleKey = []): AsyncIterable<KeyedCandles> {
    checkKey(prefix);
    const keyStart = this.#names.candles(['']).length;
    for (let next = 1; ; ) {
      const messages = await readBatch(this.#connection, this.#names.candleStream, {
        seq: next,
        batch: READ_BLOCKS_MAX,
        max_bytes: READ_BYTES_MAX,
        next_by_subj: this.#names.candles([...prefix, '>']),
      });
      if (messages.length === 0) return;
      for (const { headers: given, data } of messages) {
        next = Number(given!.get('Nats-Sequence')) + 1;
        yield { key: given!.get('Nats-Subject').slice(keyStart).split('.'), bytes: data };
      }
    }
  }
}

function checkKey(key: CandleKey): void {
  if (key.length > KEY_WORDS_MAX || !key.every((word) => SUBJECT_WORD.test(word)))
    throw new RangeError(
      `a key of the shelf is not ${KEY_WORDS_MAX} words or fewer of letters, digits, _ and -`,
    );
}
