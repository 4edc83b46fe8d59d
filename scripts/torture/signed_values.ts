import { decodePayload, parseExactJson, writeExactJson } from '../../src/client/index.js';
import { evmAddress } from '../../src/crypto/evm.js';
import { keccak256 } from '../../src/crypto/keccak.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import { fetchBody } from '../load/fetch_body.js';
import { count, type Finding, NONE } from './check.js';

/**
 * All signed values that a client received from the processes of the service, and the contradictions among these
 * values.
 */
export class SignedValues {
  /** The aggregates by key, symbol and time. */
  readonly #aggregates = new Map<string, string>();
  /** The time of the last answer by reader, key and symbol, and of the last payload by reader. */
  readonly #lastNs = new Map<string, bigint>();
  /** The signed body by key and time. */
  readonly #bodies = new Map<string, string>();
  /** The value by key, time and streaming ID. */
  readonly #values = new Map<string, bigint>();
  /** The times of known payloads. Many connections receive the same payload. */
  #recent = new Map<string, bigint>();
  #aggregatesTwice = 0;
  #aggregatesBack = 0;
  #payloadsBack = 0;
  #payloadsTwice = 0;
  #valuesTwice = 0;

  findings(): Finding[] {
    return [
      count('different aggregates seen', this.#aggregates.size, SEEN),
      count('  two under one key, asset and time', this.#aggregatesTwice, NONE),
      count('  times of aggregates that go back for one reader', this.#aggregatesBack, NONE),
      count('different signed payloads seen', this.#bodies.size, SEEN),
      count('  two under one key and ts', this.#payloadsTwice, NONE),
      count('  two prices of one asset under one key and ts', this.#valuesTwice, NONE),
      count('  times of payloads that go back for one reader', this.#payloadsBack, NONE),
    ];
  }

  /**
   * Reads the newest aggregates.
   * @param reader the name of the reader; for each name, times must not go back
   */
  async poll(port: number, symbols: readonly string[], reader: string): Promise<readonly ShownAggregate[]> {
    const body = await fetchBody(port, `/v1/prices/latest?assets=${symbols.join()}`);
    const { data } = parseExactJson(body) as { data: Record<string, ServedAggregate> };
    return Object.entries(data).map(([symbol, aggregate]) => {
      const { public_key, timestamped_signature } = aggregate.service_signed_price;
      const { timestamp: timeNs } = timestamped_signature;
      const series = `${public_key} ${symbol}`;
      if (this.#goesBack(`${reader} ${series}`, timeNs)) this.#aggregatesBack++;
      const text = writeExactJson(aggregate);
      this.#aggregatesTwice += note(this.#aggregates, `${series} ${timeNs}`, text);
      return { symbol, timeNs, text };
    });
  }

  /**
   * Takes a frame of a signed stream.
   * @param reader the name of the reader; for each name, times must not go back
   */
  takeFrame(frame: string, reader: string): void {
    const hex = /"p":"0x([0-9a-f]+)"/.exec(frame)?.[1];
    if (hex === undefined) return;
    if (this.#recent.size >= RECENT_MAX) this.#recent = new Map();
    const timeNs = this.#recent.get(hex) ?? this.#decode(hex);
    this.#recent.set(hex, timeNs);
    if (this.#goesBack(reader, timeNs)) this.#payloadsBack++;
  }

  /** @returns the time of the payload */
  #decode(hex: string): bigint {
    const payload = decodePayload(hex);
    if ('check' in payload) throw new Error(payload.reason);
    const { body, timestampNs, assets } = payload;
    const signature = Buffer.from(hex.slice(0, 128), 'hex');
    const key = secp256k1.recover(keccak256(body), signature, hex.slice(128, 130) === '00' ? 0 : 1)!;
    const under = `${evmAddress(key).toString('hex')} ${timestampNs}`;
    this.#payloadsTwice += note(this.#bodies, under, Buffer.from(body).toString('latin1'));
    for (const { id, value } of assets) this.#valuesTwice += note(this.#values, `${under} ${id}`, value);
    return timestampNs;
  }

  #goesBack(name: string, timeNs: bigint): boolean {
    const lastNs = this.#lastNs.get(name) ?? 0n;
    this.#lastNs.set(name, timeNs);
    return timeNs < lastNs;
  }
}

/** An aggregate as a reader received it. */
export interface ShownAggregate {
  readonly symbol: string;
  readonly timeNs: bigint;
  /** The JSON text, with each number as the service wrote it. */
  readonly text: string;
}

const RECENT_MAX = 10_000;
/** The smallest number of values in a check. */
const SEEN = { atLeast: 10 };

export interface ServedAggregate {
  readonly service_signed_price: {
    readonly public_key: string;
    readonly timestamped_signature: { readonly timestamp: bigint };
  };
}

/**
 * Records a value.
 * @returns 1 when the key already has a different value, otherwise 0
 */
function note<V>(seen: Map<string, V>, key: string, value: V): number {
  const before = seen.get(key);
  if (before === undefined) seen.set(key, value);
  return before === undefined || before === value ? 0 : 1;
}
