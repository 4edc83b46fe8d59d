import { symbolOf } from '../../scripts/load/config.js';
import { SHOWN } from '../../scripts/load/store_records.js';
import { Updates } from '../../scripts/load/updates.js';
import type { LogEntry } from '../../src/cluster/log/log_batch.js';
import { encodeHolding, type Holding } from '../../src/log/records/holding.js';
import { holdingOf } from '../../src/log/records/next_holding.js';
import { msgHashOf, type PublisherPrice, type SignedAggregate } from '../../src/model/signed_price.js';
import { NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';

/** The inputs of each aggregate. */
export const INPUTS = 5;

/**
 * Makes entries for the log, like a leader. The entries are aggregates of five signed inputs each. The signatures of the aggregates are
 * invalid.
 */
export class AggregateEntries {
  readonly #assets: readonly { readonly symbol: string; readonly inputs: readonly PublisherPrice[] }[];
  readonly #newest: Holding[] = [];
  #made = 0;

  constructor(assets: number) {
    const updates = new Updates('evm');
    this.#assets = Array.from({ length: assets }, (_, asset) => ({
      symbol: symbolOf(asset),
      inputs: Array.from({ length: INPUTS }, (_, publisher) => updates.input(publisher, asset)),
    }));
  }

  /**
   * Makes the entry of the next asset. The assets take turns.
   * @param signedAtNs not earlier than in the previous call
   */
  next(signedAtNs: TimeNs): LogEntry {
    const index = this.#made++ % this.#assets.length;
    const { symbol, inputs } = this.#assets[index]!;
    const holding = holdingOf(aggregateOf(symbol, inputs, signedAtNs), SHOWN, this.#newest[index]);
    this.#newest[index] = holding;
    return { symbol, signatureType: 'evm', bytes: encodeHolding(holding) };
  }

  /** Makes the entries of a period, in the order of time. */
  *span(fromNs: TimeNs, seconds: number, perSecond: number): Generator<LogEntry> {
    for (let i = 0; i < seconds * perSecond; i++)
      yield this.next((fromNs + (BigInt(i) * NS_PER_SECOND) / BigInt(perSecond)) as TimeNs);
  }
}

function aggregateOf(symbol: string, inputs: readonly PublisherPrice[], signedAtNs: TimeNs): SignedAggregate {
  const { price, timestampNs } = inputs.at(-1)!;
  const msgHash = msgHashOf(inputs.at(-1)!);
  return {
    symbol,
    trigger: 'clock',
    price,
    timestampNs,
    signedAtNs,
    signatureType: 'evm',
    publicKey: inputs[0]!.wire.publisherKey,
    msgHash,
    r: msgHash,
    s: msgHash,
    v: 27,
    merkleRoot: msgHash,
    algorithm: 'median',
    inputs,
  };
}
