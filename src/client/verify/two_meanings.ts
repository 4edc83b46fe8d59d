import { TlogError } from '../../tlog/tlog_error.js';
import {
  decodeStatementBody,
  readStatementEntries,
  STATEMENT_BODY_BYTES,
} from '../../wire/taxonomy_statement.js';
import { hexToBytes } from './bytes.js';
import type { Signers } from './checks.js';
import { decodeSigned } from './decode_payload.js';
import type { Evidence } from './evidence_file.js';
import { checkStatement } from './verify_statement.js';

/** Proves that two statements of one taxonomy ID give two meanings to a streaming ID. @throws TlogError when they do not */
export function proveTwoMeanings(
  { statements, entries }: Extract<Evidence, { readonly kind: 'two meanings' }>,
  signers: Signers,
) {
  const one = readMeanings(statements[0], entries[0], signers);
  const other = readMeanings(statements[1], entries[1], signers);
  if (one.taxonomyId !== other.taxonomyId) throw new TlogError('the statements are of two taxonomies');
  const isNamed = signers !== 'unchecked';
  // Anybody can make two keys. With named signers, both keys are of one operator.
  if (!isNamed && one.signer !== other.signer) throw new TlogError('the statements have different signers');
  const twice = [...one.meanings].find(([id, meaning]) => (other.meanings.get(id) ?? meaning) !== meaning);
  if (twice === undefined) throw new TlogError('no asset has two meanings in the statements');
  const [id, meaning] = twice;
  const signedBy = one.signer === other.signer ? one.signer : `${one.signer} and ${other.signer}`;
  return {
    statement: `${signedBy} signed two meanings of asset ${id} of taxonomy ${one.taxonomyId}: ${meaning} and ${other.meanings.get(id)}`,
    signer: one.signer,
    verdict: isNamed ? ('verified' as const) : ('recovered' as const),
  };
}

function readMeanings(statement: string, hex: string, signers: Signers) {
  const assets = /^(?:[0-9a-f]{2})*$/.test(hex) ? readStatementEntries(hexToBytes(hex)) : undefined;
  if (assets === undefined) throw new TlogError('the entries of a statement cannot be read');
  const signed = decodeSigned(statement);
  if ('check' in signed || signed.body.length !== STATEMENT_BODY_BYTES)
    throw new TlogError('a statement cannot be read');
  const { taxonomyId } = decodeStatementBody(signed.body);
  const { fault, signer } = checkStatement({ taxonomyId, assets, statement }, signers);
  if (fault !== undefined) throw new TlogError(`a statement is not signed by the operator: ${fault}`);
  const meanings = new Map(
    assets.map(({ id, signatureType, symbol }) => [id, `${signatureType} ${symbol}`] as const),
  );
  return { taxonomyId, signer: signer!, meanings };
}
