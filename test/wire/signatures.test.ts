import { test } from 'tap';
import { SIGNATURE_TYPES, SIGNATURES, signatureTypeOfKey } from '../../src/wire/signatures.js';

const EVM = `0x${'Ab'.repeat(20)}`;
const STARK = `0x${'5'.repeat(63)}`;

test('a key tells its type by its length', async (t) => {
  t.equal(signatureTypeOfKey(EVM), 'evm');
  t.equal(signatureTypeOfKey(STARK), 'stark');
  for (const text of ['', '0x', EVM.slice(2), `${STARK}12`, `0x${'g'.repeat(40)}`])
    t.equal(signatureTypeOfKey(text), undefined, text);
});

test('the bytes of the signature types in stored and signed messages never change', async (t) => {
  t.strictSame(SIGNATURE_TYPES.slice(0, 2), ['evm', 'stark']);
  t.strictSame([SIGNATURES.evm.recordByte, SIGNATURES.stark.recordByte], [1, 2]);
});
