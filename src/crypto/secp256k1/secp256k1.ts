import { loadNativeSecp256k1 } from './secp256k1_native.js';
import { nobleSecp256k1 } from './secp256k1_noble.js';
import type { Secp256k1 } from './secp256k1_operations.js';
import { loadSystemSecp256k1, type SystemSecp256k1 } from './secp256k1_system.js';

/**
 * The environment variable with the path of the libsecp256k1 to load. Without this variable, the process searches the system for
 * the library's known names. The value `none` loads no library.
 */
export const SECP256K1_LIBRARY_VARIABLE = 'TICKSEAL_SECP256K1_LIBRARY';

/** The libsecp256k1 of this machine, or the reason why the process does not use any. */
export const systemSecp256k1: SystemSecp256k1 = loadSystemSecp256k1(process.env[SECP256K1_LIBRARY_VARIABLE]);

/**
 * The fastest implementation on this machine. The order is: the machine's libsecp256k1, the library in the npm package, and plain
 * JavaScript, which signs ten times slower. Each thread loads its implementation separately. The service logs the choice.
 */
export const secp256k1: Secp256k1 = systemSecp256k1.curve ?? loadNativeSecp256k1() ?? nobleSecp256k1;
