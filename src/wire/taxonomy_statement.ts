import { PAYLOAD_SIGNATURE } from './payload_fields.js';
import { SIGNATURE_TYPES, type SignatureType, WORD_BYTES } from './signatures.js';

// The statement of a taxonomy: a signature over the meaning of each streaming ID. A payload signs IDs and not symbols, so without a
// statement whoever answers `/v1/taxonomy` could exchange the meanings of two IDs.
//
//     statement = signature (65: r, s, v of 0 or 1) | body
//     body      = taxonomy ID (2) | issued, ns (8) | count (4) | root (32)
//     root      = Keccak-256 of all entries in the order of their IDs
//     entry     = ID (2) | type (1: 0 evm, 1 stark) | bytes of the symbol (2) | symbol in UTF-8
//     signed    = Keccak-256 of 0xFF | ASCII "tickseal-taxonomy/v1" | body
//
// All integers are big-endian. The first byte 0xFF and the text keep a statement from being a payload: no payload has the layout version
// 0x74, and no simplified payload has this length.

/** The meaning of a streaming ID. */
export interface MappedAsset {
  /** The streaming ID, a uint16. */
  readonly id: number;
  readonly symbol: string;
  readonly signatureType: SignatureType;
}

/** Fields of a statement. The root stands for the list of assets. */
export interface StatementBody {
  readonly taxonomyId: number;
  /** The time of the signature, in nanoseconds. */
  readonly issuedNs: bigint;
  /** The number of assets. */
  readonly count: number;
  /** The Keccak-256 of {@link statementEntries}. */
  readonly root: Uint8Array;
}

export const STATEMENT_BODY_BYTES = 2 + 8 + 4 + WORD_BYTES;
export const STATEMENT_BYTES = PAYLOAD_SIGNATURE.bytes + STATEMENT_BODY_BYTES;

const ENTRY_HEAD_BYTES = 5;
const SIGNED_HEAD = new Uint8Array([0xff, ...new TextEncoder().encode('tickseal-taxonomy/v1')]);

/** Returns the bytes whose Keccak-256 is a statement's root. The order of `assets` has no effect. */
export function statementEntries(assets: Iterable<MappedAsset>): Uint8Array {
  const ascending = [...assets].sort((a, b) => a.id - b.id);
  return Uint8Array.from(
    ascending.flatMap(({ id, signatureType, symbol }) => {
      const text = new TextEncoder().encode(symbol);
      return [id >> 8, id, SIGNATURE_TYPES.indexOf(signatureType), text.length >> 8, text.length, ...text];
    }),
  );
}

/** Reads what {@link statementEntries} returns. @returns `undefined` for other bytes, such as entries without order */
export function readStatementEntries(bytes: Uint8Array): readonly MappedAsset[] | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const assets: MappedAsset[] = [];
  try {
    for (let at = 0; at < bytes.length; ) {
      const id = view.getUint16(at);
      const signatureType = SIGNATURE_TYPES[view.getUint8(at + 2)];
      const end = at + ENTRY_HEAD_BYTES + view.getUint16(at + 3);
      if (signatureType === undefined || end > bytes.length || id <= (assets.at(-1)?.id ?? -1))
        return undefined;
      assets.push({ id, symbol: utf8.decode(bytes.subarray(at + ENTRY_HEAD_BYTES, end)), signatureType });
      at = end;
    }
  } catch {
    // The bytes end inside an entry, or a symbol is not UTF-8.
    return undefined;
  }
  return assets;
}

/** Returns the {@link STATEMENT_BODY_BYTES} bytes of a body. */
export function encodeStatementBody({ taxonomyId, issuedNs, count, root }: StatementBody): Uint8Array {
  const body = new Uint8Array(STATEMENT_BODY_BYTES);
  const view = new DataView(body.buffer);
  view.setUint16(0, taxonomyId);
  view.setBigUint64(2, issuedNs);
  view.setUint32(10, count);
  body.set(root, 14);
  return body;
}

/** Reads the bytes of a body. `body` must have {@link STATEMENT_BODY_BYTES} bytes. */
export function decodeStatementBody(body: Uint8Array): StatementBody {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  return {
    taxonomyId: view.getUint16(0),
    issuedNs: view.getBigUint64(2),
    count: view.getUint32(10),
    root: body.subarray(14, STATEMENT_BODY_BYTES),
  };
}

/** Returns the bytes whose Keccak-256 the statement signs, without the EIP-191 prefix. */
export function signedStatementBytes(body: Uint8Array): Uint8Array {
  const signed = new Uint8Array(SIGNED_HEAD.length + body.length);
  signed.set(SIGNED_HEAD);
  signed.set(body, SIGNED_HEAD.length);
  return signed;
}
