import { loadNativeSecp256k1 } from './secp256k1_native.js';
import { nobleSecp256k1 } from './secp256k1_noble.js';
import type { Secp256k1 } from './secp256k1_operations.js';
import { loadSystemSecp256k1, type SystemSecp256k1 } from './secp256k1_system.js';

/**
 * The variable that names the file of the libsecp256k1 to load, instead of the one that the system has under a known name; `none`
 * loads none.
 */
export const SECP256K1_LIBRARY_VARIABLE = 'TICKSEAL_SECP256K1_LIBRARY';

/** The libsecp256k1 of this machine, or the reason why it has none. */
export const systemSecp256k1: SystemSecp256k1 = loadSystemSecp256k1(process.env[SECP256K1_LIBRARY_VARIABLE]);

/**
 * The fastest implementation that this machine has: its own libsecp256k1, then the one in the npm package, then plain JavaScript,
 * which signs ten times slower. Each thread loads its own. The service logs which one it uses.
 */
export const secp256k1: Secp256k1 = systemSecp256k1.curve ?? loadNativeSecp256k1() ?? nobleSecp256k1;
