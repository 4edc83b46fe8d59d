import type { Asset } from '../model/asset.js';
import { CandleBlock } from './candle.js';
import type { Journal } from './journal.js';
import type { Tables } from './tables.js';
import { dayOfMinute, emptyTape, HOURS_PER_DAY, MINUTES_PER_HOUR, type Tape } from './tape.js';

/** Above every day since 1970 that a record can name. */
const DAY_MAX = 1_000_000;

/** The tapes of all assets that have records, configured or not: an asset that comes back finds its own. */
export interface TapeDeck {
  all(): Iterable<Tape>;
  /** @throws DamagedRecord when the asset's newest record or hour cannot be trusted. */
  of(asset: Asset): Tape;
}

/** Rebuilds the tapes from the keys of the folder, without reading more than each asset's newest record and hour. */
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
      const newest = journal.get(tables.seconds, [last, tape.symbol]);
      if (newest?.minute !== undefined) {
        tape.firstDay ??= dayOfMinute(newest.minute.minute);
        tape.hour = loadHour(tape, Math.floor(newest.minute.minute / MINUTES_PER_HOUR));
      }
      tape.newest = newest;
    }
    return tape;
  }

  /** The hour goes on where it stopped; from here on appending never reads the disk. */
  function loadHour({ symbol }: Tape, hour: number): Tape['hour'] {
    const block = CandleBlock.withRoomFor(MINUTES_PER_HOUR);
    const stored = journal.get(tables.hours, [symbol, hour]);
    if (stored !== undefined) block.pushBlock(stored, 0);
    return { hour, block };
  }

  for (const asset of assets) of(asset);
  return { all: () => tapes.values(), of };
}
