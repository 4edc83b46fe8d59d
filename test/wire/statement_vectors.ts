import type { MappedAsset } from '../../src/wire/taxonomy_statement.js';

/** The key that signs the statements of all vectors. */
export const VECTOR_KEY = Buffer.alloc(32, 7);

export interface StatementVector {
  readonly name: string;
  readonly taxonomyId: number;
  readonly issuedNs: bigint;
  readonly assets: readonly MappedAsset[];
  /** Hex of the bytes whose Keccak-256 is the root. */
  readonly entries: string;
  /** Hex of the signature, without `0x`. */
  readonly signature: string;
  /** Hex of the body. */
  readonly body: string;
}

/** Statements that were made without the code of this repository: hex text, noble-hashes and noble-curves (RFC 6979). */
export const STATEMENT_VECTORS: readonly StatementVector[] = [
  {
    name: 'an EVM and a Stark asset, listed in another order than their IDs',
    taxonomyId: 1,
    issuedNs: 1_772_460_000_000_000_001n,
    assets: [
      { id: 2, symbol: 'DYDXUSD', signatureType: 'stark' },
      { id: 1, symbol: 'BTCUSD', signatureType: 'evm' },
    ],
    entries:
      // ID, type, length, symbol
      '0001 00 0006 425443555344' + '0002 01 0007 44594458555344',
    signature:
      '41aad076cc8bfa954ff8bebecf1105850e9ead7e61c74078c43a5198b5c9a0fd' +
      '281577938148b0c2cffa8aa950cd8f1a2cc21e778c4e7ed5ad92a83e51827eea' +
      '00',
    body:
      // taxonomy ID, issued, count, root
      '0001 18990afaa696c001 00000002' + '3551e80ca6a4b7af4f5aa50cd2c513f84d1f97f51a618729994e84373ba6c6a4',
  },
  {
    name: 'symbols outside ASCII, and the smallest and the largest ID',
    taxonomyId: 65_535,
    issuedNs: 1_772_460_000_123_456_789n,
    assets: [
      { id: 65_535, symbol: '日経225', signatureType: 'evm' },
      { id: 0, symbol: 'S&P500', signatureType: 'evm' },
      { id: 700, symbol: '🥇', signatureType: 'stark' },
    ],
    entries: '0000 00 0006 532650353030' + '02bc 01 0004 f09fa587' + 'ffff 00 0009 e697a5e7b58c323235',
    signature:
      'd059bd18f867969d7d7eddc46ee1d1ef8105d89e886e3cdac18acb60281d598a' +
      '6fc256f8a76d881b6f958d5cb1f9aa227f82b1847261d94e9afbc857c1db5463' +
      '00',
    body:
      'ffff 18990afaadf28d15 00000003' + '09d5db86cb5d01c695ffd614c2de89de2b94bbafcbdf3664408c406e2fc0f1ec',
  },
];
