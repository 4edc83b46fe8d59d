import type { Asset } from '../model/asset.js';
import type { Journal } from './journal.js';
import type { Tables } from './tables.js';
import { dayOfMinute, emptyTape, HOURS_PER_DAY, type Tape } from './tape.js';

/** Above every day since 1970 that a record can name. */
const DAY_MAX = 1_000_000;

/** The tapes of all assets that have records, configured or not: an asset that comes back finds its own. */
export interface TapeDeck {
  all(): Iterable<Tape>;
  /** @throws DamagedRecord when the asset's newest record cannot be trusted. */
  of(asset: Asset): Tape;
}

/** Rebuilds the tapes from the keys of the folder, without reading more than each asset's newest record. */
export function loadTapes(assets: readonly Asset[], journal: Journal, tables: Tables): TapeDeck {
  const tapes = new Map<string, Tape>();
  const tapeOf = (symbol: string) => {
    let tape = tapes.get(symbol);
    if (tape === undefined) {
      tape = emptyTape(symbol);
      tapes.set(symbol, tape);
    }
    return tape;
  };

  for (const [second, symbol] of tables.seconds.database.getKeys())
    tapeOf(String(symbol)).seconds.push(Number(second));
  for (const [symbol, hour] of tables.hours.database.getKeys()) {
    const day = Math.floor(Number(hour) / HOURS_PER_DAY);
    const { unsealedDays } = tapeOf(String(symbol));
    if (unsealedDays.at(-1) !== day) unsealedDays.push(day);
  }
  for (const tape of tapes.values()) {
    const range = { start: [tape.symbol, 0], end: [tape.symbol, DAY_MAX], limit: 1 };
    for (const [, day] of tables.days.database.getKeys(range)) tape.firstDay = Number(day);
    tape.firstDay ??= tape.unsealedDays[0];
  }

  function of(asset: Asset): Tape {
    const tape = tapeOf(asset.symbol);
    const last = tape.seconds.at(-1);
    if (tape.newest === undefined && last !== undefined) {
      tape.newest = journal.get(tables.seconds, [last, tape.symbol]);
      if (tape.newest?.minute !== undefined) tape.firstDay ??= dayOfMinute(tape.newest.minute.minute);
    }
    return tape;
  }

  for (const asset of assets) of(asset);
  return { all: () => tapes.values(), of };
}
