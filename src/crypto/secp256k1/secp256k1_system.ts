import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { wrongAnswerOf } from './secp256k1_check.js';
import type { Secp256k1 } from './secp256k1_operations.js';

/** The library that was loaded, or the reason why the library that was found or named is not used. */
export interface SystemSecp256k1 {
  readonly curve?: Secp256k1;
  /** The name under which the library was loaded. */
  readonly library?: string;
  readonly problem?: string;
}

/**
 * Loads the machine's libsecp256k1 through koffi and checks its answers against those of noble. Calls through koffi took 0 to 4 % longer than
 * the same calls in a C program, as did those of an add-on in C; koffi needs no compiler.
 * @param setting the file of the library; `none` for no library, nothing for the names under which systems have it
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
 * Names by the number of the binary interface, newest first: 0.8, 0.7, 0.6, 0.3 to 0.5, 0.2. These functions are the same in all
 * of them.
 */
const LIBRARY_NAMES =
  /** The dynamic loader of each system finds only its own form. */
  [7, 6, 5, 2, 1].flatMap((abi) => [`libsecp256k1.so.${abi}`, `libsecp256k1.${abi}.dylib`]);

/** SECP256K1_CONTEXT_SIGN and SECP256K1_CONTEXT_VERIFY, which versions before 0.2 need. */
const CONTEXT_FLAGS = 0x301;
/** SECP256K1_EC_UNCOMPRESSED */
const UNCOMPRESSED = 2;
/** Sizes of the library's own forms of a recoverable signature and a public key. */
const INNER_SIGNATURE_BYTES = 65;
const INNER_KEY_BYTES = 64;

/** An address in koffi's form. */
type Pointer = object | bigint;

type Koffi = {
  load(library: string): { func(declaration: string): unknown };
  sizeof(type: string): number;
};

/** The library's functions without their prefix `secp256k1_`; those that return a number return 1 when they have succeeded. */
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
  // Arrays are passed as they are: koffi gives the library the addresses of their bytes during the call.
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
 * Wraps the functions with checks. The library ends the process when an argument is invalid, and reads as many bytes as it
 * expects. So the lengths and the recovery number are checked before every call. No call is interrupted, so all share the room
 * for the library's own forms.
 */
function curveOf(functions: Functions): Secp256k1 {
  const context = functions.createContext(CONTEXT_FLAGS);
  if (!context) throw new Error('it makes no context');
  // Blinds the arithmetic with secret keys against measurement from outside.
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
      // 2 and 3 mean that the nonce point's x is between n and p, once in 2^127 signatures.
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
 * @throws TypeError when the value is not an array of bytes, RangeError when it has another length, as an array without its
 * memory has.
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
