import type { TaxonomyAsset } from '../index.js';

// The shell commands for the copy buttons under a proof.

export interface CommandOptions {
  /** The JSON text of the answer of `/v1/prices/latest`, as received. */
  readonly answer: string;
  readonly asset: Pick<TaxonomyAsset, 'signatureType'>;
  /** The pinned key of the asset's type. */
  readonly signer: string;
  /** The service's oracle ID, which Stark signatures cover. */
  readonly oracleId: string | undefined;
}

/** Makes a shell command that verifies the proof offline. */
export function verifyCommand({ answer, asset, signer, oracleId }: CommandOptions): string {
  const isStark = asset.signatureType === 'stark' && oracleId !== undefined;
  return `tickseal verify --signer ${signer}${isStark ? ` --oracle-id ${quotedForShell(oracleId)}` : ''} ${quotedForShell(answer)}`;
}

/**
 * Makes a shell command with Foundry's `cast` that asks the contract TicksealVerifier for the asset's price.
 * @param payload the hex of a verified payload, with `0x`
 * @param id the asset's streaming ID
 */
export function contractCall(payload: string, id: number): string {
  return `cast call "$VERIFIER" 'priceOf(bytes,uint16)' ${payload} ${id}`;
}

/** Puts a text in single quotes for a POSIX shell. */
function quotedForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
