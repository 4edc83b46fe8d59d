import { keccak_256 } from '@noble/hashes/sha3.js';
import { test } from 'tap';
import {
  decodeStatementBody,
  encodeStatementBody,
  type MappedAsset,
  readStatementEntries,
  STATEMENT_BODY_BYTES,
  STATEMENT_BYTES,
  signedStatementBytes,
  statementEntries,
} from '../../src/wire/taxonomy_statement.js';
import { STATEMENT_VECTORS } from './statement_vectors.js';

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const unspaced = (text: string) => text.replaceAll(' ', '');

test('statements have the bytes of the golden vectors', async (t) => {
  for (const { name, taxonomyId, issuedNs, assets, entries, signature, body } of STATEMENT_VECTORS) {
    t.equal(hexOf(statementEntries(assets)), unspaced(entries), name);
    const root = keccak_256(statementEntries(assets));
    const encoded = encodeStatementBody({ taxonomyId, issuedNs, count: assets.length, root });
    t.equal(hexOf(encoded), unspaced(body), name);
    t.equal(encoded.length, STATEMENT_BODY_BYTES);
    t.equal(encoded.length + signature.length / 2, STATEMENT_BYTES);
    t.same(decodeStatementBody(encoded), { taxonomyId, issuedNs, count: assets.length, root });
    t.equal(
      hexOf(signedStatementBytes(encoded)),
      `ff${hexOf(Buffer.from('tickseal-taxonomy/v1'))}${unspaced(body)}`,
    );
  }
});

/** Returns the entries as hex, text by text. */
function slowEntries(assets: readonly MappedAsset[]): string {
  const hex = (value: number, bytes: number) => value.toString(16).padStart(bytes * 2, '0');
  const byId = new Map(assets.map((asset) => [asset.id, asset]));
  let text = '';
  for (let id = 0; id <= 0xffff; id++) {
    const asset = byId.get(id);
    if (asset === undefined) continue;
    const symbol = Buffer.from(asset.symbol, 'utf8');
    text +=
      hex(id, 2) + (asset.signatureType === 'stark' ? '01' : '00') + hex(symbol.length, 2) + hexOf(symbol);
  }
  return text;
}

test('the entries of a list are those of a slow reference, in any order of the list', async (t) => {
  const assets = Array.from({ length: 2_000 }, (_, i): MappedAsset => {
    // 7,919 has no common factor with 65,536, so the IDs differ.
    const id = (i * 7_919) % 65_536;
    const symbol = ['Ä', 'BTC', '本', '🥇'][i % 4]!.repeat(1 + (i % 16));
    return { id, symbol, signatureType: i % 3 === 0 ? 'stark' : 'evm' };
  });
  const expected = slowEntries(assets);
  t.equal(hexOf(statementEntries(assets)), expected);
  t.equal(hexOf(statementEntries([...assets].reverse())), expected);
});

test('entries are read as they were written, and only in ascending order of their IDs', async (t) => {
  const asset = (id: number): MappedAsset => ({ id, symbol: `ASSET${id}`, signatureType: 'evm' });
  const assets = [asset(1), { ...asset(7), signatureType: 'stark' as const }, asset(300)];
  const bytes = statementEntries(assets);
  t.same(readStatementEntries(bytes), assets);
  const [one, two] = [statementEntries([asset(1)]), statementEntries([asset(2)])];
  t.equal(readStatementEntries(Buffer.concat([two, one])), undefined, 'descending');
  t.equal(readStatementEntries(Buffer.concat([one, one])), undefined, 'twice');
  t.equal(readStatementEntries(bytes.subarray(0, -1)), undefined, 'cut');
});
