import { test } from 'tap';
import { checksumAddress, evmAddress } from '../../../src/client/verify/evm_signatures.js';
import { checkStatement } from '../../../src/client/verify/verify_statement.js';
import { STATEMENT_VECTORS, VECTOR_KEY } from '../../wire/statement_vectors.js';

const SIGNER = checksumAddress(evmAddress(VECTOR_KEY));
const OTHER = `0x${'1'.repeat(40)}`;
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const hex = (text: string) => text.replaceAll(' ', '');
const [first, second] = STATEMENT_VECTORS as [(typeof STATEMENT_VECTORS)[0], (typeof STATEMENT_VECTORS)[0]];
const statement = first.signature + hex(first.body);

test('each vector is a statement of its list by its key', async (t) => {
  for (const { name, taxonomyId, assets, signature, body } of STATEMENT_VECTORS)
    for (const prefix of ['', '0x'])
      t.same(
        checkStatement({ taxonomyId, assets, statement: prefix + signature + hex(body) }, [OTHER, SIGNER]),
        { signer: SIGNER },
        name,
      );
});

test('a statement that is not exactly of this list, taxonomy and key is refused', async (t) => {
  const { taxonomyId, assets } = first;
  const check = (changed: object, signers: readonly string[] = [SIGNER]) =>
    checkStatement({ taxonomyId, assets, statement, ...changed }, signers);
  t.same(check({}), { signer: SIGNER });
  t.match(check({ statement: undefined }), { fault: /serves no statement/, signer: undefined });
  t.match(check({}, [OTHER]), { fault: /signer: signed by 0x/, signer: SIGNER });
  const others: readonly [string, object][] = [
    ['exchanged symbols', { assets: assets.map((one, i) => ({ ...one, symbol: assets[1 - i]!.symbol })) }],
    [
      'exchanged types',
      { assets: assets.map((one, i) => ({ ...one, signatureType: assets[1 - i]!.signatureType })) },
    ],
    ['a missing asset', { assets: assets.slice(1) }],
    ['another asset', { assets: [...assets, { id: 9, symbol: 'X', signatureType: 'evm' }] }],
    ['another taxonomy ID', { taxonomyId: taxonomyId + 1 }],
    ['the statement of another list', { statement: second.signature + hex(second.body) }],
  ];
  for (const [name, changed] of others)
    t.match(check(changed), { fault: /of another list or taxonomy/, signer: undefined }, name);
  t.equal(
    check({ assets: [...assets].reverse() }).fault,
    undefined,
    'the order of the answer does not matter',
  );
});

test('no byte of a statement can be changed', async (t) => {
  const { taxonomyId, assets } = first;
  for (let at = 0; at < statement.length; at += 2) {
    const byte = (Number.parseInt(statement.slice(at, at + 2), 16) ^ 1).toString(16).padStart(2, '0');
    const flipped = statement.slice(0, at) + byte + statement.slice(at + 2);
    const { fault } = checkStatement({ taxonomyId, assets, statement: flipped }, [SIGNER]);
    t.ok(fault, `byte ${at / 2}`);
  }
  const s = CURVE_ORDER - BigInt(`0x${statement.slice(64, 128)}`);
  const high = `${statement.slice(0, 64)}${s.toString(16).padStart(64, '0')}01${statement.slice(130)}`;
  const faults: readonly [string, RegExp][] = [
    [high, /low s/],
    [`${statement.slice(0, 128)}1b${statement.slice(130)}`, /recovery byte is 27/],
    [statement.slice(0, -2), /another list/],
    [`${statement}00`, /another list/],
    [statement.slice(0, 100), /do not hold a signature/],
  ];
  for (const [changed, reason] of faults)
    t.match(checkStatement({ taxonomyId, assets, statement: changed }, [SIGNER]).fault, reason);
});
