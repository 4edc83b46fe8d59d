import { type Evidence, formatEvidence } from '../verify/evidence_file.js';
import { writeExactJson } from '../verify/exact_json.js';
import type { ProofRequest } from './proof.js';

/** Files that a reader can save, and the command that checks them offline. */
export interface SavedFiles {
  readonly files: readonly {
    /** The text of the button. */
    readonly button: string;
    readonly name: string;
    readonly text: string;
  }[];
  /** The command. The reader has to add the policy, because a policy of the service under test proves little. */
  readonly command: string;
}

/** Returns the files with a price and its proof, for `tickseal verify`. */
export function savedProof(
  aggregate: object,
  proof: string,
  { symbol, signers, oracleId }: Pick<ProofRequest, 'symbol' | 'signers' | 'oracleId'>,
): SavedFiles {
  const name = fileName(symbol);
  return {
    files: [
      { button: 'Save the price', name: `${name}.json`, text: `${writeExactJson(aggregate)}\n` },
      { button: 'Save the proof', name: `${name}.tlog-proof`, text: proof },
    ],
    command: `tickseal verify ${name}.json${keysText(signers, oracleId)} --proof ${name}.tlog-proof --policy tickseal.policy`,
  };
}

export const EVIDENCE_NAME = 'tickseal-evidence.json';

/** Returns the file with evidence, for `tickseal log verify`. */
export function savedEvidence(
  evidence: Evidence,
  { signers, oracleId }: Pick<ProofRequest, 'signers' | 'oracleId'>,
): SavedFiles {
  return {
    files: [{ button: 'Save the evidence', name: EVIDENCE_NAME, text: formatEvidence(evidence) }],
    command: `tickseal log verify ${EVIDENCE_NAME}${keysText(signers, oracleId)} --policy tickseal.policy`,
  };
}

function keysText(signers: readonly string[], oracleId: string | undefined): string {
  const keys = signers.map((signer) => ` --signer ${signer}`).join('');
  return oracleId === undefined ? keys : `${keys} --oracle-id ${oracleId}`;
}

/** Returns the symbol as a name that no file system and no shell refuses. */
function fileName(symbol: string): string {
  return symbol.replace(/[^A-Za-z0-9-]+/g, '_').replace(/^[_-]*$|^-/, 'price');
}
