import type { AssetName } from '../model/asset_map.js';
import type { AcceptedInput } from '../records/accepted_input.js';
import type { LatestInput } from '../records/latest_input.js';
import type { RecordKeys } from './record_keys.js';
import type { RecordSlot, Table } from './table.js';

/** Puts the inputs that this process accepts. Each pair of publisher and asset keeps the slot of its record. */
export class InputSlots {
  readonly #inputs: Pick<Table<AcceptedInput>, 'keep' | 'putIn'>;
  readonly #recordKeys: RecordKeys;
  readonly #slots = new WeakMap<LatestInput, RecordSlot<AcceptedInput>>();

  constructor(inputs: Pick<Table<AcceptedInput>, 'keep' | 'putIn'>, recordKeys: RecordKeys) {
    this.#inputs = inputs;
    this.#recordKeys = recordKeys;
  }

  put(asset: AssetName, key: Buffer, accepted: LatestInput): void {
    let slot = this.#slots.get(accepted);
    if (slot === undefined) {
      slot = this.#inputs.keep(this.#recordKeys.ofInput(asset, key));
      this.#slots.set(accepted, slot);
    }
    this.#inputs.putIn(slot, accepted);
  }
}
