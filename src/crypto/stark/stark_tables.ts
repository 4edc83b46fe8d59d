import { fillPedersenTables } from './pedersen.js';
import { GENERATOR } from './stark_curve.js';

let filled: Promise<void> | undefined;

/**
 * Fills the tables with which this thread hashes, signs and verifies Stark prices. This takes 0.2 s, spread over many turns of
 * the event loop. Only the first call fills the tables. A price that needs a table earlier fills that table immediately.
 * @param nextTurn calls back in the next turn of the event loop
 */
export function fillStarkTables(nextTurn: (callback: () => void) => void): Promise<void> {
  filled ??= fillInTurns(nextTurn);
  return filled;
}

async function fillInTurns(nextTurn: (callback: () => void) => void): Promise<void> {
  for (const tables of [fillPedersenTables(), GENERATOR.fill()])
    for (const _ of tables) await new Promise<void>(nextTurn);
}
