import { foreignText } from '../../wire/foreign_text.js';
import { KEY_PATTERNS, SIGNATURE_TYPES, SIGNATURES, signatureTypeOfKey } from '../../wire/signatures.js';
import { hexToBytes } from './bytes.js';
import { checksumAddress } from './evm_signatures.js';

const ADDRESS = KEY_PATTERNS.evm;

/** Returns the fault of a text that should be an EVM address; `undefined` when the text is one. */
export function addressFault(text: string): string | undefined {
  if (!ADDRESS.test(text)) return `${foreignText(text)} is not an address: 0x and 40 hex digits`;
  const digits = text.slice(2);
  const isMixed = /[a-f]/.test(digits) && /[A-F]/.test(digits);
  const right = isMixed ? checksumAddress(hexToBytes(digits)) : text;
  return right === text
    ? undefined
    : `the capital letters do not fit the checksum of ${text} (EIP-55): check its digits, then write ${right} or only small letters`;
}

/** Returns the fault of a text that should be a public key of any signature type; `undefined` when the text is one. */
export function keyFault(text: string): string | undefined {
  if (ADDRESS.test(text)) return addressFault(text);
  const type = signatureTypeOfKey(text);
  if (type !== undefined && BigInt(text) > 0n && BigInt(text) < SIGNATURES[type].keyLimit) return undefined;
  const forms = SIGNATURE_TYPES.map((one) => SIGNATURES[one].keyForm);
  return `${foreignText(text)} is neither ${forms.join(' nor ')}`;
}
