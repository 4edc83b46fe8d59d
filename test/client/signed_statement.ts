import { keccak_256 } from '@noble/hashes/sha3.js';
import { signDigest } from '../../src/client/sign/evm_sign.js';
import { SECRET_KEY, sealed } from './signed_payload.js';

/** An entry of `/v1/taxonomy`. */
export interface ListedAsset {
  readonly asset_id: number;
  readonly name: string;
  readonly signature_type: string;
}

/** The part of the answer of `/v1/taxonomy` that a statement signs. */
export interface ListedTaxonomy {
  readonly taxonomy_id: number;
  readonly assets: readonly ListedAsset[];
}

/** The time of the statements, unless a test names another time. */
const ISSUED_NS = 1_765_000_000_000_000_000n;

/** Returns the entries of a list in the order of their IDs, in hex. The function uses no code of the client or of the service. */
export function entriesOf(assets: readonly ListedAsset[]): string {
  return [...assets]
    .sort((a, b) => a.asset_id - b.asset_id)
    .map(({ asset_id, name, signature_type }) => {
      const symbol = Buffer.from(name);
      return (
        hexOf(asset_id, 2) +
        (signature_type === 'evm' ? '00' : '01') +
        hexOf(symbol.length, 2) +
        symbol.toString('hex')
      );
    })
    .join('');
}

/** Returns the body of a statement in hex. */
export function statementBody({ taxonomy_id, assets }: ListedTaxonomy, issuedNs = ISSUED_NS): string {
  const root = Buffer.from(keccak_256(Buffer.from(entriesOf(assets), 'hex'))).toString('hex');
  return hexOf(taxonomy_id, 2) + hexOf(issuedNs, 8) + hexOf(assets.length, 4) + root;
}

/** Signs a body in hex. */
export function signedStatement(body: string, secretKey = SECRET_KEY): string {
  const { r, s, recovery } = signDigest(statementDigest(body), secretKey);
  return sealed(r, s, recovery) + body;
}

/** Returns the digest that a statement with this body signs. */
export function statementDigest(body: string): Uint8Array {
  const text = Buffer.from('tickseal-taxonomy/v1');
  return keccak_256(Buffer.concat([Buffer.from([0xff]), text, Buffer.from(body, 'hex')]));
}

/** Returns a taxonomy with its statement. */
export function withStatement<T extends ListedTaxonomy>(
  taxonomy: T,
  secretKey = SECRET_KEY,
  issuedNs = ISSUED_NS,
) {
  return { ...taxonomy, statement: signedStatement(statementBody(taxonomy, issuedNs), secretKey) };
}

function hexOf(value: bigint | number, bytes: number): string {
  return BigInt(value)
    .toString(16)
    .padStart(2 * bytes, '0');
}
