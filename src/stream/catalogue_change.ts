import type { AssetIndex } from '../model/asset.js';
import type { StreamSession } from './group.js';
import { taxonomyText } from './request.js';
import type { StreamCatalogue } from './stream_catalogue.js';

/** The assets of a connection after a reload. */
interface ChangedAssets {
  readonly assets: readonly AssetIndex[];
  /** The ended assets, each with its last streaming ID. */
  readonly ended: ReadonlyMap<AssetIndex, number>;
}

/** A change of the catalogue and of rights, to be applied to each connection. */
export class CatalogueChange {
  readonly #idBefore: ReadonlyMap<AssetIndex, number>;
  readonly #idNow: ReadonlyMap<AssetIndex, number>;
  readonly #now: StreamCatalogue;

  constructor(before: StreamCatalogue, now: StreamCatalogue) {
    this.#idBefore = idByIndex(before);
    this.#idNow = idByIndex(now);
    this.#now = now;
  }

  /**
   * Tells a session which of its assets have new IDs, have ended or have returned. The notice must precede any frame with new IDs. An asset
   * that the token may no longer see counts as ended. The next frame contains a returned asset even if its price is unchanged.
   * @param endedBefore the assets that had ended before, with their last streaming IDs
   */
  applyTo(session: StreamSession, endedBefore: ReadonlyMap<AssetIndex, number>): ChangedAssets {
    const assets: AssetIndex[] = [];
    const ended = new Map(endedBefore);
    const endedIds: number[] = [];
    const returnedIds: number[] = [];
    let hasMoved = false;
    for (const index of endedBefore.keys()) {
      const id = this.#visibleId(session, index);
      if (id === undefined) continue;
      ended.delete(index);
      assets.push(index);
      returnedIds.push(id);
      if (session.options.channel === 'real_time') {
        session.fresh ??= new Set();
        session.fresh.add(index);
      }
    }
    for (const index of session.assets) {
      const id = this.#visibleId(session, index);
      const before = this.#idBefore.get(index)!;
      if (id !== undefined) {
        assets.push(index);
        hasMoved ||= id !== before;
      } else {
        ended.set(index, before);
        endedIds.push(before);
      }
    }
    if (hasMoved || endedIds.length + returnedIds.length > 0)
      session.connection.send(
        taxonomyText(
          endedIds,
          returnedIds.sort((a, b) => a - b),
        ),
      );
    return { assets, ended };
  }

  #visibleId({ rights }: StreamSession, index: AssetIndex): number | undefined {
    const id = this.#idNow.get(index);
    return id !== undefined && rights.maySee(this.#now.assets[index]!.symbol) ? id : undefined;
  }
}

function idByIndex({ listed }: StreamCatalogue): ReadonlyMap<AssetIndex, number> {
  return new Map(listed.map(({ index, id }) => [index, id]));
}
