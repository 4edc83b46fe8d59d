import type { Evidence } from '../../client/verify/evidence_file.js';
import { signedPrice, verifyEvidence } from '../../client/verify/log_evidence.js';
import { verifyByNode } from '../../tlog/ed25519_key.js';
import type { LogPolicy } from '../../tlog/log_policy.js';
import { TlogError } from '../../tlog/tlog_error.js';

/**
 * Returns evidence about the files of a log, if it proves its fault. Otherwise returns an observation: the served files do not fit the
 * checkpoint, as when a cache between the log and the audit has changed them. No signature covers those files.
 */
export async function provableEvidence(
  evidence: Evidence,
  checkpoint: string,
  policy: LogPolicy,
): Promise<Evidence> {
  if (evidence.kind === 'observed') return evidence;
  try {
    await verifyEvidence(evidence, { policy, signers: 'unchecked', verifyEd25519: verifyByNode });
    return evidence;
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    const found = `the log serves an entry, records or tiles that do not fit its checkpoint: ${error.message}`;
    return { kind: 'observed', checkpoint, found };
  }
}

/**
 * Verifies the signature of a price that contradicts the log or another price. To verify each received price would cost more than the rest of
 * the audit.
 */
export function isSignedPrice(text: string, onUnsigned?: (reason: string) => void): boolean {
  try {
    signedPrice(text, { signers: 'unchecked' });
    return true;
  } catch (error) {
    if (!(error instanceof TlogError)) throw error;
    onUnsigned?.(error.message);
    return false;
  }
}
