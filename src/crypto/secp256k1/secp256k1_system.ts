import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { wrongAnswerOf } from './secp256k1_check.js';
import type { Secp256k1 } from './secp256k1_operations.js';

/** The loaded library, or the reason why a found or configured library is not used. */
export interface SystemSecp256k1 {
  readonly curve?: Secp256k1;
  /** The name under which the system loaded the library. */
  readonly library?: string;
  readonly problem?: string;
}

/**
 * Loads the machine's libsecp256k1 through koffi, and compares the library's answers with noble's answers. A call through koffi
 * takes 0 to 4 % longer than the same call in a C program. A C add-on would take the same time, but would need a compiler.
 * @param setting the path of the library, or `none` for no library; if absent, the library's usual names are tried
 */
export function loadSystemSecp256k1(setting: string | undefined): SystemSecp256k1 {
  if (setting === 'none') return {};
  let koffi: Koffi;
  try {
    const require = createRequire(import.meta.url);
    koffi = require('koffi') as Koffi;
  } catch (error) {
    return setting ? { problem: `koffi cannot be loaded: ${firstLine(error)}` } : {};
  }
  for (const library of setting ? [setting] : LIBRARY_NAMES) {
    let handle: ReturnType<Koffi['load']>;
    try {
      handle = koffi.load(library);
    } catch (error) {
      if (setting) return { problem: `${library} cannot be loaded: ${firstLine(error)}` };
      continue;
    }
    try {
      if (koffi.sizeof('size_t') !== 8) return { problem: `${library} is not for 64 bits` };
      const curve = curveOf(bindFunctions(handle));
      const wrong = wrongAnswerOf(curve);
      return wrong === undefined ? { curve, library } : { problem: `${library} computes ${wrong} wrongly` };
    } catch (error) {
      return { problem: `${library} cannot be used: ${firstLine(error)}` };
    }
  }
  return {};
}

/**
 * Library names by the number of the binary interface, newest first: 0.8, 0.7, 0.6, 0.3 to 0.5, 0.2. The functions used here are the same
 * in all of these versions.
 */
const LIBRARY_NAMES =
  /** The file names on Linux and macOS. Each system's dynamic loader finds only its own names. */
  [7, 6, 5, 2, 1].flatMap((abi) => [`libsecp256k1.so.${abi}`, `libsecp256k1.${abi}.dylib`]);

/** SECP256K1_CONTEXT_SIGN and SECP256K1_CONTEXT_VERIFY. Versions before 0.2 need both flags. */
const CONTEXT_FLAGS = 0x301;
/** The flag SECP256K1_EC_UNCOMPRESSED. */
const UNCOMPRESSED = 2;
/** The sizes of the library's internal forms of a recoverable signature and of a public key. */
const INNER_SIGNATURE_BYTES = 65;
const INNER_KEY_BYTES = 64;

/** An address, in koffi's form. */
type Pointer = object | bigint;

type Koffi = {
  load(library: string): { func(declaration: string): unknown };
  sizeof(type: string): number;
};

/** The library's functions, without their prefix `secp256k1_`. A function that returns a number returns 1 when it has succeeded. */
interface Functions {
  createContext(flags: number): Pointer | null;
  randomize(context: Pointer, seed32: Uint8Array): number;
  sign(
    context: Pointer,
    out: Uint8Array,
    digest32: Uint8Array,
    key32: Uint8Array,
    nonce: null,
    data: null,
  ): number;
  writeSignature(context: Pointer, out64: Uint8Array, outRecovery: Int32Array, signature: Uint8Array): number;
  readSignature(context: Pointer, out: Uint8Array, signature64: Uint8Array, recovery: number): number;
  recover(context: Pointer, outKey: Uint8Array, signature: Uint8Array, digest32: Uint8Array): number;
  createKey(context: Pointer, outKey: Uint8Array, key32: Uint8Array): number;
  writeKey(
    context: Pointer,
    out65: Uint8Array,
    length: BigUint64Array,
    key: Uint8Array,
    form: number,
  ): number;
}

function bindFunctions(library: ReturnType<Koffi['load']>): Functions {
  const bind = (declaration: string) => library.func(declaration);
  // Koffi passes the addresses of the byte arrays to the library, without a copy.
  return {
    createContext: bind('void *secp256k1_context_create(unsigned int)'),
    randomize: bind('int secp256k1_context_randomize(void *, void *)'),
    sign: bind('int secp256k1_ecdsa_sign_recoverable(void *, void *, void *, void *, void *, void *)'),
    writeSignature: bind(
      'int secp256k1_ecdsa_recoverable_signature_serialize_compact(void *, void *, void *, void *)',
    ),
    readSignature: bind(
      'int secp256k1_ecdsa_recoverable_signature_parse_compact(void *, void *, void *, int)',
    ),
    recover: bind('int secp256k1_ecdsa_recover(void *, void *, void *, void *)'),
    createKey: bind('int secp256k1_ec_pubkey_create(void *, void *, void *)'),
    writeKey: bind('int secp256k1_ec_pubkey_serialize(void *, void *, void *, void *, unsigned int)'),
  } as Functions;
}

/**
 * Wraps the functions with checks. The library ends the process for an invalid argument, and reads a fixed number of bytes. So each
 * call first checks the lengths and the recovery number. All calls share the memory for the library's internal forms, because
 * nothing interrupts a call.
 */
function curveOf(functions: Functions): Secp256k1 {
  const context = functions.createContext(CONTEXT_FLAGS);
  if (!context) throw new Error('it makes no context');
  // The random numbers protect secret keys against side-channel attacks.
  if (functions.randomize(context, randomBytes(32)) !== 1)
    throw new Error('its context takes no random numbers');
  const innerSignature = Buffer.alloc(INNER_SIGNATURE_BYTES);
  const innerKey = Buffer.alloc(INNER_KEY_BYTES);
  const madeRecovery = new Int32Array(1);
  const keyLength = new BigUint64Array([65n]);

  const writtenKey = (out65: Uint8Array) => {
    assert.equal(functions.writeKey(context, out65, keyLength, innerKey, UNCOMPRESSED), 1);
    return out65;
  };
  return {
    implementation: 'system',
    sign(digest32, key32, out64 = Buffer.allocUnsafe(64)) {
      checkLength('digest', digest32, 32);
      checkLength('private key', key32, 32);
      checkLength('room for the signature', out64, 64);
      if (functions.sign(context, innerSignature, digest32, key32, null, null) !== 1) throw keyError();
      functions.writeSignature(context, out64, madeRecovery, innerSignature);
      const recovery = madeRecovery[0];
      // The values 2 and 3 mean that the nonce point's x is between n and p. This happens once in 2^127 signatures.
      assert(recovery === 0 || recovery === 1);
      return { signature: out64, recovery };
    },
    recover(digest32, signature64, recovery, out65 = Buffer.allocUnsafe(65)) {
      checkLength('digest', digest32, 32);
      checkLength('signature', signature64, 64);
      checkLength('room for the public key', out65, 65);
      if (recovery !== 0 && recovery !== 1) return undefined;
      if (functions.readSignature(context, innerSignature, signature64, recovery) !== 1) return undefined;
      if (functions.recover(context, innerKey, innerSignature, digest32) !== 1) return undefined;
      return writtenKey(out65);
    },
    publicKey(key32) {
      checkLength('private key', key32, 32);
      if (functions.createKey(context, innerKey, key32) !== 1) throw keyError();
      return writtenKey(Buffer.allocUnsafe(65));
    },
  };
}

/**
 * Checks that a value is an array of bytes with this length.
 * @throws TypeError when the value is not an array of bytes
 * @throws RangeError when the length is different; an array whose memory was moved away has length 0
 */
function checkLength(name: string, bytes: Uint8Array, length: number): void {
  if (!(bytes instanceof Uint8Array)) throw new TypeError(`${name} is not a Uint8Array`);
  if (bytes.length !== length) throw new RangeError(`${name} has ${bytes.length} bytes instead of ${length}`);
}

function keyError(): RangeError {
  return new RangeError('secp256k1 private key is not in 1 .. n-1');
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? error.message : error).split('\n', 1)[0]!;
}
