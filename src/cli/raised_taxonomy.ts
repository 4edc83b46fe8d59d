import { NODE } from '../client/connect/node_platform.js';
import type { Frame } from '../client/prices/frame.js';
import { decodePayload } from '../client/verify/decode_payload.js';
import type { NamedAssets } from './named_assets.js';
import { type Shown, shown } from './shown_line.js';

/** The largest number of frames that wait for a list of assets: those of 10 s on the fastest channel. Later frames are dropped. */
const WAITING_MAX = 1_000;
/** The shortest time between two reads of the list. Until the next read, frames of another list fail their check. */
const READ_INTERVAL_MS = 5_000;

interface RaisedTaxonomyOptions {
  /** Reads the list of assets again. Returns a text if the list cannot be read or is not accepted. */
  readonly read: () => Promise<NamedAssets | Shown>;
  /** Subscribes the present IDs in place of the former IDs. Resolves when the service has confirmed it. */
  readonly move: (former: readonly number[], present: readonly number[]) => Promise<void>;
  /** Called with each frame in turn, and with the assets and the taxonomy ID that its payload must have. */
  readonly onFrame: (frame: Frame, named: NamedAssets) => void;
  /** Called with a sentence about a read. */
  readonly onRead: (text: Shown) => void;
  /** Called when frames were dropped. */
  readonly onDropped: () => void;
}

/**
 * Passes on the frames of named assets. A service raises its taxonomy ID when its IDs get other meanings. The list of assets is then read
 * again, and frames wait until the new list is accepted.
 */
export class RaisedTaxonomy {
  readonly #options: RaisedTaxonomyOptions;
  #named: NamedAssets;
  /** The frames that wait for a read; `undefined` while no read goes on. */
  #waiting: Frame[] | undefined;
  #readMs = Number.NEGATIVE_INFINITY;

  constructor(named: NamedAssets, options: RaisedTaxonomyOptions) {
    this.#named = named;
    this.#options = options;
  }

  receive(frame: Frame): void {
    if (this.#waiting !== undefined) {
      if (this.#waiting.length < WAITING_MAX) this.#waiting.push(frame);
      else this.#options.onDropped();
    } else if (this.#isOfOtherList(frame) && NODE.steadyMs() - this.#readMs >= READ_INTERVAL_MS) {
      this.#waiting = [frame];
      void this.#readTaxonomy();
    } else this.#options.onFrame(frame, this.#named);
  }

  #isOfOtherList(frame: Frame): boolean {
    const { taxonomyId } = this.#named;
    if (taxonomyId === undefined) return false;
    const content = frame.type === 'unsigned' ? frame : decodePayload(frame.payload);
    return !('check' in content) && content.taxonomyId !== taxonomyId;
  }

  async #readTaxonomy(): Promise<void> {
    const { read, move, onFrame, onRead, onDropped } = this.#options;
    const { ids: former, taxonomyId } = this.#named;
    this.#readMs = NODE.steadyMs();
    const named = await read();
    if (!('ids' in named)) onRead(named);
    else if (named.taxonomyId !== taxonomyId) {
      onRead(
        shown`the taxonomy ID is ${String(named.taxonomyId)} now, and the list of assets was read again`,
      );
      this.#named = named;
      if (named.ids.join() !== former.join()) {
        await move(former, named.ids);
        // The frames up to now are of the former IDs, which mean other assets now.
        this.#waiting = [];
        onDropped();
      }
    }
    const frames = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const frame of frames) onFrame(frame, this.#named);
  }
}
