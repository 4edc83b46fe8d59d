import { checkStatement } from '../../src/client/verify/verify_statement.js';
import { ask, type TestService } from './harness.js';

/** Reads `/v1/taxonomy`. @returns its assets, and the key that signed exactly these assets */
export async function statementOf(service: Pick<TestService, 'url'>) {
  const { data } = await ask(service, '/v1/taxonomy');
  const listed = data.assets as { asset_id: number; name: string; signature_type: 'evm' | 'stark' }[];
  const assets = listed.map(({ asset_id, name, signature_type }) => ({
    id: asset_id,
    symbol: name,
    signatureType: signature_type,
  }));
  const mapping = { taxonomyId: data.taxonomy_id, statement: data.statement, assets };
  const { fault, signer } = checkStatement(mapping, 'unchecked');
  if (fault !== undefined) throw new Error(fault);
  return { assets, signer };
}
