import type { VerifyEd25519 } from './ed25519.js';
import type { LogPolicy, TrustedLog } from './log_policy.js';
import { verifySignatures } from './note_keys.js';
import { parseNote } from './signed_note.js';
import { TlogError } from './tlog_error.js';
import { type Checkpoint, parseCheckpoint } from './tree_checkpoint.js';

/** A checkpoint that a trusted log signed. */
export interface SignedCheckpoint {
  readonly checkpoint: Checkpoint;
  readonly log: TrustedLog;
  /** The witnesses of the policy that cosigned, each with the time of its latest cosignature, in UNIX seconds. */
  readonly cosigners: ReadonlyMap<string, bigint>;
}

/**
 * Reads a checkpoint. Verifies the signatures of the policy's log and witnesses, but does not require the quorum.
 * @throws TlogError when the checkpoint is malformed, when no log of the policy signed it under its own name, or when a signature by a key
 * of the policy is invalid
 */
export async function openCheckpoint(
  note: string | Uint8Array,
  policy: LogPolicy,
  verify: VerifyEd25519,
): Promise<SignedCheckpoint> {
  const signed = parseNote(note);
  const checkpoint = parseCheckpoint(signed.text);
  const logs = policy.logs.filter(({ key }) => key.name === checkpoint.origin);
  if (logs.length === 0) throw new TlogError(`the policy does not name the log ${checkpoint.origin}`);
  const keys = [...logs, ...policy.witnesses].map(({ key }) => key);
  const verified = await verifySignatures(signed, keys, verify);
  const signer = logs.find(({ key }) => verified.some((one) => one.key === key));
  if (signer === undefined) throw new TlogError(`the log ${checkpoint.origin} has not signed the checkpoint`);
  const cosigners = new Map<string, bigint>();
  for (const { key, timeS = 0n } of verified) {
    const name = policy.witnesses.find((witness) => witness.key === key)?.name;
    if (name !== undefined && timeS >= (cosigners.get(name) ?? 0n)) cosigners.set(name, timeS);
  }
  return { checkpoint, log: signer, cosigners };
}

/** @throws TlogError when the cosignatures do not satisfy the policy */
export function requireQuorum({ cosigners }: SignedCheckpoint, policy: LogPolicy): void {
  if (policy.isQuorum(new Set(cosigners.keys()))) return;
  const names = [...cosigners.keys()].join(', ') || 'no witness';
  throw new TlogError(`the checkpoint is cosigned by ${names}, which is not the policy's quorum`);
}
