import { CHAIN_CRYPTO } from '../client/verify/chain_crypto.js';
import { decodePayload } from '../client/verify/decode_payload.js';
import { readNamedFile } from '../config/unreadable_file.js';
import { followChain, keysAt } from '../model/announcement_chain.js';
import { AGGREGATE_KINDS, announcementLines } from '../wire/announcement.js';

export interface ChainOptions {
  readonly chain?: string;
  readonly root?: string;
  readonly signer?: readonly string[];
}

/** The address 0, which no key has. */
const NO_KEY = `0x${'0'.repeat(40)}`;
const NS_PER_S = 1_000_000_000n;

/** The keys that were allowed to sign at a time. */
export interface ChainSigners {
  readonly ofPayload: (hex: string) => readonly string[];
  /** @param signedNs the time that an aggregate states; `undefined` for an aggregate that cannot be read */
  readonly ofAggregate: (signedNs: bigint | undefined) => readonly string[];
}

/**
 * Follows the chain of announcements that the options name.
 * @returns the keys that were allowed to sign at a time; `undefined` without a chain
 * @throws Error when the chain is invalid; the message names the invalid announcement
 */
export function chainSigners(options: ChainOptions): ChainSigners | undefined {
  const { chain, root, signer } = options;
  if (chain === undefined && root === undefined) return undefined;
  if (chain === undefined) throw new Error('--root needs --chain');
  if (root === undefined && signer === undefined) throw new Error('--chain needs --root or --signer');
  const nowS = Math.floor(Date.now() / 1000);
  const trust = root === undefined ? { keys: signer, nowS } : { root, nowS };
  const followed = followChain(announcementsOf(readNamedFile(chain).toString()), trust, CHAIN_CRYPTO);
  if (!followed.ok) throw new Error(`--chain: ${followed.reason}`);
  const { list } = followed;
  // An empty list of signers would be an invalid option.
  const known = (keys: readonly string[]) => (keys.length > 0 ? [...new Set(keys)] : [NO_KEY]);
  return {
    ofPayload(hex) {
      const payload = decodePayload(hex);
      if ('check' in payload) return known([]);
      return known(keysAt(list, ['stream'], Number(payload.timestampNs / NS_PER_S)));
    },
    ofAggregate(signedNs) {
      if (signedNs === undefined) return known([]);
      return known(keysAt(list, AGGREGATE_KINDS, Number(signedNs / NS_PER_S)));
    },
  };
}

/** Reads a chain from a file of announcements or from an answer of `/v1/signers`. */
function announcementsOf(text: string): readonly string[] {
  if (!text.trimStart().startsWith('{')) return announcementLines(text);
  const { announcements } = JSON.parse(text) as { announcements?: readonly string[] };
  return announcements ?? [];
}
