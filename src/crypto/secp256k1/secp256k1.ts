import { loadNativeSecp256k1 } from './secp256k1_native.js';
import { nobleSecp256k1 } from './secp256k1_noble.js';
import type { Secp256k1 } from './secp256k1_operations.js';
import { loadSystemSecp256k1, type SystemSecp256k1 } from './secp256k1_system.js';

/**
 * The environment variable with the path of the libsecp256k1 to load. Without this variable, the process searches the system for
 * the library's known names. The value `none` loads no library.
 */
export const SECP256K1_LIBRARY_VARIABLE = 'TICKSEAL_SECP256K1_LIBRARY';

let system: SystemSecp256k1 | undefined;
let fastest: Secp256k1 | undefined;

/** Returns the libsecp256k1 of this machine, or the reason why the process uses none. */
export function systemSecp256k1(): SystemSecp256k1 {
  system ??= loadSystemSecp256k1(process.env[SECP256K1_LIBRARY_VARIABLE]);
  return system;
}

/**
 * The fastest implementation on this machine. The order is: the machine's libsecp256k1, the library in the npm package, and plain
 * JavaScript, which signs ten times slower. Each thread loads its implementation at the first use, because loading takes 20 ms and most
 * commands sign nothing. The service logs the choice.
 */
export const secp256k1: Secp256k1 = {
  sign: (digest32, key32, out64) => fastestLibrary().sign(digest32, key32, out64),
  recover: (digest32, signature64, recovery, out65) =>
    fastestLibrary().recover(digest32, signature64, recovery, out65),
  publicKey: (key32) => fastestLibrary().publicKey(key32),
  get implementation() {
    return fastestLibrary().implementation;
  },
};

function fastestLibrary(): Secp256k1 {
  fastest ??= systemSecp256k1().curve ?? loadNativeSecp256k1() ?? nobleSecp256k1;
  return fastest;
}
