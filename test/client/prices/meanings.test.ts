import { test } from 'tap';
import {
  EquivocationError,
  type TicksealError,
  UnsignedMappingError,
} from '../../../src/client/connect/errors.js';
import { Meanings } from '../../../src/client/prices/meanings.js';
import { readTaxonomy } from '../../../src/client/prices/taxonomy.js';
import type { SignerSource } from '../../../src/client/verify/checks.js';
import { type Evidence, parseEvidence } from '../../../src/client/verify/evidence_file.js';
import { checksumAddress, evmAddress } from '../../../src/client/verify/evm_signatures.js';
import { FormReader } from '../../../src/client/verify/form_reader.js';
import { verifyEvidence } from '../../../src/client/verify/log_evidence.js';
import { SECRET_KEY, SIGNER } from '../signed_payload.js';
import { entriesOf, withStatement } from '../signed_statement.js';

const URL = 'http://service';
const NEXT_KEY = new Uint8Array(32).fill(8);
const NEXT = checksumAddress(evmAddress(NEXT_KEY));
const TWO = ['BTCUSD', 'ETHUSD'];

function listOf(symbols: readonly string[], taxonomyId = 1, secretKey = SECRET_KEY, issuedNs = 1n) {
  const assets = symbols.map((name, i) => ({ asset_id: i + 1, name, signature_type: 'evm' }));
  return withStatement({ taxonomy_id: taxonomyId, assets }, secretKey, issuedNs);
}

const taxonomyOf = (data: object) => readTaxonomy(new FormReader(JSON.parse(JSON.stringify({ data })), ''));

function meaningsOf(signers: SignerSource = [SIGNER], ids?: Record<string, number>) {
  const errors: TicksealError[] = [];
  const meanings = new Meanings(signers, ids, (error) => errors.push(error));
  return { errors, accept: (answer: object) => meanings.accept(URL, taxonomyOf(answer)) };
}

test('a mapping is accepted when a signer has signed it, whatever its age', async (t) => {
  const { accept, errors } = meaningsOf();
  t.match(accept(listOf(TWO, 1, SECRET_KEY, 5n)), { isChecked: true, taxonomy: { taxonomyId: 1 } });
  t.ok(accept(listOf(TWO, 1, SECRET_KEY, 1n)), 'an older statement of the same list');
  t.ok(accept(listOf(TWO.slice(0, 1))), 'a token that sees fewer assets');
  t.ok(accept(listOf([...TWO, 'SOLUSD'])));
  t.ok(accept(listOf(['ETHUSD', 'BTCUSD'], 2)), 'another taxonomy ID may give other meanings');
  t.throws(() => accept(listOf(TWO, 1, NEXT_KEY)), UnsignedMappingError);
  t.throws(
    () => accept({ ...listOf(TWO), statement: undefined }),
    /unsigned mapping: the service serves no statement/,
  );
  t.same(errors, []);
});

test('signers of a function count at the time of the check', async (t) => {
  let signers: readonly string[] | 'unchecked' = [SIGNER];
  const { accept } = meaningsOf(() => {
    if (signers.length === 0) throw new Error('the list has expired');
    return signers;
  });
  t.ok(accept(listOf(TWO)));
  signers = [SIGNER, NEXT];
  t.ok(accept(listOf(TWO, 1, NEXT_KEY)), 'an announced next key');
  signers = [];
  t.throws(() => accept(listOf(TWO)), /unsigned mapping: Error: the list has expired/);
  signers = 'unchecked';
  t.match(accept({ ...listOf(TWO), statement: undefined }), { isChecked: false });
});

test('two meanings of one ID are a proof, and no mapping counts after it', async (t) => {
  for (const secretKey of [SECRET_KEY, NEXT_KEY]) {
    const { accept, errors } = meaningsOf([SIGNER, NEXT]);
    accept(listOf(['X']));
    accept(listOf(TWO.slice().reverse(), 2));
    t.throws(() => accept(listOf(['X', 'Y', 'Z'].reverse(), 1, secretKey)), EquivocationError);
    t.throws(() => accept(listOf(['X'])), EquivocationError, 'the first mapping may be the lie');
    const [error] = errors as EquivocationError[];
    t.match(errors, [{ symbol: 'evm Z', message: /two meanings of asset 1 of taxonomy 1 are signed/ }]);
    t.equal(errors.length, 1);
    const evidence = parseEvidence(error!.evidence);
    const signedBy = secretKey === SECRET_KEY ? SIGNER : `${SIGNER} and ${NEXT}`;
    t.match(await verifyEvidence(evidence, { signers: [SIGNER, NEXT] }), {
      verdict: 'verified',
      statement: `${signedBy} signed two meanings of asset 1 of taxonomy 1: evm X and evm Z`,
    });
    await t.rejects(verifyEvidence(evidence, { signers: [NEXT] }), /not signed by the operator: .*signer/);
  }
});

test('statements without a contradiction are no evidence', async (t) => {
  const two = (one: ReturnType<typeof listOf>, other: ReturnType<typeof listOf>): Evidence => ({
    kind: 'two meanings',
    statements: [one.statement, other.statement],
    entries: [entriesOf(one.assets), entriesOf(other.assets)],
  });
  const prove = (evidence: Evidence) => verifyEvidence(evidence, { signers: [SIGNER] });
  const [one, other] = [listOf(TWO), listOf(['BTCUSD', 'SOLUSD'])];
  await t.resolves(prove(two(one, other)));
  await t.rejects(prove(two(one, one)), /no asset has two meanings/);
  await t.rejects(prove(two(one, listOf(TWO.slice(0, 1)))), /no asset has two meanings/);
  await t.rejects(prove(two(one, listOf(['X'], 2))), /of two taxonomies/);
});

test('pinned IDs need no statement, and contradict a list with other IDs', async (t) => {
  const unsigned = (symbols: string[]) => ({ ...listOf(symbols), statement: undefined });
  const { accept } = meaningsOf([SIGNER], { BTCUSD: 1, 'stark DYDXUSD': 9 });
  t.match(accept(unsigned(['BTCUSD', 'ETHUSD'])), {
    isChecked: true,
    taxonomy: { assets: [{ id: 1, symbol: 'BTCUSD' }] },
  });
  t.equal(accept(unsigned(['BTCUSD', 'ETHUSD'])).taxonomy.assets.length, 1, 'no other symbol is known');
  t.throws(
    () => accept(unsigned(['ETHUSD', 'BTCUSD'])),
    /unsigned mapping: ID 1 is evm ETHUSD, unlike in ids/,
  );
});

test('the memory is bounded', async (t) => {
  const { accept } = meaningsOf();
  for (let taxonomyId = 1; taxonomyId <= 9; taxonomyId++) accept(listOf(TWO, taxonomyId));
  t.throws(() => accept(listOf(['X'], 2)), EquivocationError);
  const forgetful = meaningsOf();
  for (let taxonomyId = 1; taxonomyId <= 9; taxonomyId++) forgetful.accept(listOf(TWO, taxonomyId));
  t.ok(forgetful.accept(listOf(['X'], 1)), 'the ninth list replaced the oldest one');
});
