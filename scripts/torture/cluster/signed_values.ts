import { decodePayload, parseExactJson } from '../../../src/client/index.js';
import { evmAddress } from '../../../src/crypto/evm.js';
import { keccak256 } from '../../../src/crypto/keccak.js';
import { secp256k1 } from '../../../src/crypto/secp256k1/secp256k1.js';
import { fetchBody } from '../../load/fetch_body.js';
import { count, type Finding, NONE } from '../check.js';

/**
 * All signed values that a client received from the processes of the service, and the contradictions among these
 * values.
 */
export class SignedValues {
  /** The signed hash by key, symbol and time. */
  readonly #aggregates = new Map<string, string>();
  /** The time of the last answer by reader, key and symbol. */
  readonly #lastNs = new Map<string, bigint>();
  /** The signed body by key and time. */
  readonly #bodies = new Map<string, string>();
  /** The value by key, time and streaming ID. */
  readonly #values = new Map<string, bigint>();
  /** The known payloads. Many connections receive the same payload. */
  #recent = new Set<string>();
  #aggregatesTwice = 0;
  #aggregatesBack = 0;
  #payloadsTwice = 0;
  #valuesTwice = 0;

  findings(): Finding[] {
    return [
      count('different aggregates seen', this.#aggregates.size, SEEN),
      count('  two under one key, asset and time', this.#aggregatesTwice, NONE),
      count('  times that go back for one reader', this.#aggregatesBack, NONE),
      count('different signed payloads seen', this.#bodies.size, SEEN),
      count('  two under one key and ts', this.#payloadsTwice, NONE),
      count('  two prices of one asset under one key and ts', this.#valuesTwice, NONE),
    ];
  }

  /**
   * Reads the newest aggregates.
   * @param reader the name of the reader; for each name, times must not go back
   * @returns the newest time
   */
  async poll(port: number, symbols: readonly string[], reader: string): Promise<bigint> {
    const body = await fetchBody(port, `/v1/prices/latest?assets=${symbols.join()}`);
    const { data } = parseExactJson(body) as { data: Record<string, ServedAggregate> };
    let newestNs = 0n;
    for (const [symbol, { service_signed_price: signed }] of Object.entries(data)) {
      const { timestamp, msg_hash } = signed.timestamped_signature;
      const series = `${signed.public_key} ${symbol}`;
      const last = `${reader} ${series}`;
      if (timestamp < (this.#lastNs.get(last) ?? 0n)) this.#aggregatesBack++;
      this.#lastNs.set(last, timestamp);
      if (timestamp > newestNs) newestNs = timestamp;
      this.#aggregatesTwice += note(this.#aggregates, `${series} ${timestamp}`, msg_hash);
    }
    return newestNs;
  }

  /** @param hex the payload of a `signed_ecdsa` frame, without `0x` */
  takePayload(hex: string): void {
    if (this.#recent.has(hex)) return;
    if (this.#recent.size >= RECENT_MAX) this.#recent = new Set();
    this.#recent.add(hex);
    const payload = decodePayload(hex);
    if ('check' in payload) throw new Error(payload.reason);
    const { body, timestampNs, assets } = payload;
    const signature = Buffer.from(hex.slice(0, 128), 'hex');
    const key = secp256k1.recover(keccak256(body), signature, hex.slice(128, 130) === '00' ? 0 : 1)!;
    const under = `${evmAddress(key).toString('hex')} ${timestampNs}`;
    this.#payloadsTwice += note(this.#bodies, under, Buffer.from(body).toString('latin1'));
    for (const { id, value } of assets) this.#valuesTwice += note(this.#values, `${under} ${id}`, value);
  }
}

const RECENT_MAX = 10_000;
/** The smallest number of values in a check. */
const SEEN = { atLeast: 10 };

interface ServedAggregate {
  readonly service_signed_price: {
    readonly public_key: string;
    readonly timestamped_signature: { readonly timestamp: bigint; readonly msg_hash: string };
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
