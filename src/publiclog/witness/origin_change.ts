import { changedOrigin, originOf, unknownOrigin } from '../../client/verify/changed_origin.js';
import type { LogPolicy } from '../../tlog/log_policy.js';

/** Thrown when the service's log has another origin than before. The old log has then ended, which does not prove a fault. */
export class OriginChanged extends Error {
  override readonly name = 'OriginChanged';
}

/** @throws OriginChanged when the origin of the service's log differs from the audited log, or is not in the policy */
export function requireSameOrigin(note: string, before: string | undefined, policy: LogPolicy): void {
  const origin = originOf(note);
  const known = before === undefined ? undefined : originOf(before);
  if (known !== undefined && known !== origin)
    throw new OriginChanged(
      `${changedOrigin(origin, known)}, and audit the new log with its key in the policy and another --folder`,
    );
  const other = unknownOrigin(note, policy);
  if (other !== undefined) throw new OriginChanged(other);
}
