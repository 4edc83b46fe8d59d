import { foreignText } from '../../wire/foreign_text.js';
import { PUBLIC_KEY_BYTES, STARK_FIELD_PRIME } from '../../wire/signatures.js';
import { hexToBytes } from './bytes.js';
import { checksumAddress } from './evm_signatures.js';

const ADDRESS = new RegExp(`^0x[0-9a-fA-F]{${PUBLIC_KEY_BYTES.evm * 2}}$`);
/**
 * The least number of digits of a Stark key, whose leading zeros may be absent. Of 2^52 keys one has fewer digits, and a shorter text is
 * an address with digits too many or too few.
 */
const STARK_DIGITS_MIN = 50;
const STARK_KEY = new RegExp(`^0x[0-9a-fA-F]{${STARK_DIGITS_MIN},${PUBLIC_KEY_BYTES.stark * 2}}$`);

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

/** Returns the fault of a text that should be an EVM address or a Stark public key; `undefined` when the text is one. */
export function keyFault(text: string): string | undefined {
  if (ADDRESS.test(text)) return addressFault(text);
  if (STARK_KEY.test(text) && BigInt(text) > 0n && BigInt(text) < STARK_FIELD_PRIME) return undefined;
  return `${foreignText(text)} is neither an address (0x and 40 hex digits) nor a Stark public key (0x and ${STARK_DIGITS_MIN} to ${PUBLIC_KEY_BYTES.stark * 2} hex digits, below the field prime)`;
}
