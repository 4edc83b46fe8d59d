import type { LogPolicy } from '../../tlog/log_policy.js';
import { parseNote } from '../../tlog/signed_note.js';
import { parseCheckpoint } from '../../tlog/tree_checkpoint.js';

/** Returns the name of the log in a checkpoint. Verifies no signature. @throws TlogError for a malformed checkpoint */
export function originOf(note: string): string {
  return parseCheckpoint(parseNote(note).text).origin;
}

/**
 * Returns the reason why the policy cannot judge a service's checkpoint: the policy does not name the log, as after `log new-origin`.
 * @returns `undefined` when the policy names the log
 * @throws TlogError for a malformed checkpoint
 */
export function unknownOrigin(note: string, { logs }: LogPolicy): string | undefined {
  const origin = originOf(note);
  const trusted = logs.map(({ key }) => key.name);
  if (trusted.includes(origin)) return undefined;
  return `the service has the log ${origin}, and the policy trusts ${trusted.join(', ') || 'no log'}: another log, or one that goes on under a new origin. Ask the operator for its key and the reason`;
}

/** Returns the sentence about a log that replaced a known log. This does not prove a fault. */
export function changedOrigin(origin: string, before: string): string {
  return `the service now has the log ${origin}, and had ${before} before: that log does not go on. Ask the operator why`;
}
