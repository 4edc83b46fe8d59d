import type { LogPosition } from '../bus.js';

/** The end of the message when a node stops because an operator must decide whether to continue without some records. */
export const WITHOUT_THEM =
  '; to go on without them, run tickseal store FOLDER --new-log: see "When records are lost" in CLUSTER.md';

/**
 * Returns the message of a node that stops because the log has lost records.
 * @param last the last record of the log
 * @param applied the last record that this node has applied
 * @param knownEnd the highest sequence that any node has seen in the log
 */
export function lostRecordsText(last: LogPosition, applied: LogPosition, knownEnd: number): string {
  const known =
    applied.sequence >= knownEnd
      ? `this node has applied ${applied.sequence} (${applied.id})`
      : `another node has applied ${knownEnd}`;
  const count = Math.max(1, knownEnd - last.sequence);
  return `the log has lost records: it ends with ${last.sequence} (${last.id}), and ${known}, so at least ${count} are lost${WITHOUT_THEM}`;
}
