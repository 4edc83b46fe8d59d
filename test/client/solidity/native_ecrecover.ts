import { createAddressFromString } from '@ethereumjs/util';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { secp256k1 } from '../../../src/crypto/secp256k1/secp256k1.js';
import type { Precompile } from './chain.js';

const GAS = 3_000n;
const NOTHING = new Uint8Array(0);

/** The precompiled contract `ecrecover` with the fastest curve of this machine. The one of the EVM takes 5 ms, and this one 0.1 ms. */
export const NATIVE_ECRECOVER: Precompile = {
  address: createAddressFromString(`0x${'01'.padStart(40, '0')}`),
  function: ({ data }) => ({ executionGasUsed: GAS, returnValue: recover(data) }),
};

function recover(data: Uint8Array): Uint8Array {
  const input = Buffer.alloc(128);
  input.set(data.subarray(0, 128));
  const v = BigInt(`0x${input.toString('hex', 32, 64)}`);
  if (v !== 27n && v !== 28n) return NOTHING;
  const recovery = v === 27n ? 0 : 1;
  const publicKey = secp256k1.recover(input.subarray(0, 32), input.subarray(64, 128), recovery);
  if (publicKey === undefined) return NOTHING;
  const address = new Uint8Array(32);
  address.set(keccak_256(publicKey.subarray(1)).subarray(12), 12);
  return address;
}
