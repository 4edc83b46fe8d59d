import { keccak_256 } from '@noble/hashes/sha3.js';
import { checksumAddress, recoverAddress } from '../../src/client/verify/evm_signatures.js';
import { get, type TestService, TOKEN } from './harness.js';

export interface ListedAsset {
  readonly asset_id: number;
  readonly name: string;
  readonly signature_type: string;
}

export interface ReadStatement {
  readonly taxonomyId: number;
  readonly issuedNs: bigint;
  /** The checksummed address of the key that signed. */
  readonly signer: string;
  /** True when the statement is about exactly the assets of its answer. */
  readonly fits: boolean;
}

export interface TaxonomyAnswer {
  readonly taxonomy_id: number;
  readonly statement?: string;
  readonly assets: readonly ListedAsset[];
}

/** Reads a statement without the code of the service and of the client, except for the recovery of the address. */
export function readStatement({ statement, assets, taxonomy_id }: TaxonomyAnswer): ReadStatement {
  const hex = (value: number, bytes: number) => value.toString(16).padStart(bytes * 2, '0');
  const text = statement!.slice(2);
  const number = (from: number, bytes: number) => BigInt(`0x${text.slice(from * 2, (from + bytes) * 2)}`);
  const body = text.slice(65 * 2);
  const entries = [...assets]
    .sort((a, b) => a.asset_id - b.asset_id)
    .map(({ asset_id, name, signature_type }) => {
      const symbol = Buffer.from(name);
      return `${hex(asset_id, 2)}${signature_type === 'stark' ? '01' : '00'}${hex(symbol.length, 2)}${symbol.toString('hex')}`;
    });
  const root = Buffer.from(keccak_256(Buffer.from(entries.join(''), 'hex'))).toString('hex');
  const head = Buffer.from('tickseal-taxonomy/v1').toString('hex');
  const digest = keccak_256(Buffer.from(`ff${head}${body}`, 'hex'));
  const signature = {
    r: number(0, 32),
    s: number(32, 32),
    recovery: number(64, 1) === 1n ? (1 as const) : (0 as const),
  };
  return {
    taxonomyId: Number(number(65, 2)),
    issuedNs: number(67, 8),
    signer: checksumAddress(recoverAddress(digest, signature)!),
    fits: number(65, 2) === BigInt(taxonomy_id) && body.slice(10 * 2) === hex(assets.length, 4) + root,
  };
}

/** Reads `/v1/taxonomy`. */
export async function taxonomyOf(service: Pick<TestService, 'url'>, token = TOKEN): Promise<TaxonomyAnswer> {
  const response = await get(`${service.url}/v1/taxonomy`, { Authorization: `Basic ${token}` });
  return ((await response.json()) as { data: TaxonomyAnswer }).data;
}
