import type { LogPosition } from '../bus.js';

/** The end of a reason for which a node stops, when an operator must decide to go on without some records. */
export const WITHOUT_THEM =
  '; to go on without them, run tickseal store FOLDER --new-log: see "When records are lost" in CLUSTER.md';

/**
 * Returns the reason for which a node stops when the log has lost records.
 * @param last the last record that the log has
 * @param applied the last record that this node has applied
 * @param knownEnd the last sequence that the log is known to have had
 */
export function lostRecordsText(last: LogPosition, applied: LogPosition, knownEnd: number): string {
  const known =
    applied.sequence >= knownEnd
      ? `this node has applied ${applied.sequence} (${applied.id})`
      : `another node has applied ${knownEnd}`;
  const count = Math.max(1, knownEnd - last.sequence);
  return `the log has lost records: it ends with ${last.sequence} (${last.id}), and ${known}, so at least ${count} are lost${WITHOUT_THEM}`;
}
