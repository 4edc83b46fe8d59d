import { type MappedAsset, signedStatementBytes, statementEntries } from '../../wire/taxonomy_statement.js';
import { bytesToHex } from './bytes.js';
import { CheckList, requireSigners, type Signers } from './checks.js';
import { decodeSigned } from './decode_payload.js';
import { keccak256 } from './keccak_sponge.js';
import { checkSignature } from './verify_payload.js';

/** A list of streaming IDs, and the statement that signs the list. The form of the assets must be checked. */
export interface SignedMapping {
  readonly taxonomyId: number;
  readonly assets: readonly MappedAsset[];
  /** The statement in hex; `undefined` if the service serves no statement. */
  readonly statement?: string | undefined;
}

/** The result of the checks of a statement. */
export interface StatementReport {
  /** The reason why the statement does not prove the list; `undefined` if a named key has signed exactly this list. */
  readonly fault?: string | undefined;
  /** The key that signed exactly this list. With a fault, the key is not a named key. */
  readonly signer?: string | undefined;
}

/**
 * Checks that a statement covers exactly a list, and that a named key signed the statement. The age of a statement is not checked, because
 * the meaning of an ID never changes.
 * @throws RangeError or TypeError for invalid signers
 */
export function checkStatement(
  { taxonomyId, assets, statement }: SignedMapping,
  signers: Signers,
): StatementReport {
  requireSigners(signers);
  if (statement === undefined) return { fault: 'the service serves no statement of its IDs' };
  const signed = decodeSigned(statement);
  if ('check' in signed) return { fault: `the statement: ${signed.reason}` };
  const body = bytesToHex(signed.body);
  const hexOf = (value: number, digits: number) => value.toString(16).padStart(digits, '0');
  // The time of the statement may be any time.
  const list = hexOf(assets.length, 8) + bytesToHex(keccak256(statementEntries(assets)));
  if (body !== hexOf(taxonomyId, 4) + body.slice(4, 20) + list)
    return { fault: 'the statement is of another list or taxonomy' };
  const checks = new CheckList(signers);
  const signer = checkSignature(checks, signed.signature, keccak256(signedStatementBytes(signed.body)));
  const failed = checks.checks.find(({ status }) => status === 'failed');
  if (failed === undefined) return { signer };
  const { name, reason } = failed;
  return { fault: `the statement: ${name}: ${reason}`, signer: name === 'signer' ? signer : undefined };
}
