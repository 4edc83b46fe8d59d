import { existsSync, readFileSync } from 'node:fs';
import { signDigest } from '../client/sign/evm_sign.js';
import { concatBytes, integerBytes } from '../client/verify/bytes.js';
import { CHAIN_CRYPTO } from '../client/verify/chain_crypto.js';
import { type ChainList, followOwnChain, secondText } from '../model/announcement_chain.js';
import {
  type AnnouncedList,
  type AnnouncedSigner,
  announcementHex,
  announcementLines,
  announcementMessage,
  encodeAnnouncedList,
} from '../wire/announcement.js';

/** The chain of a file, and the newest list in it. */
export interface ChainFile {
  readonly text: string;
  readonly lines: readonly string[];
  /** The newest list; absent when the file has no list yet. */
  readonly newest: ChainList | undefined;
}

/**
 * Reads an operator's own chain of announcements. Checks each announcement with the keys in the chain itself.
 * @throws Error when the chain is invalid
 */
export function readChainFile(file: string): ChainFile {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const lines = announcementLines(text);
  if (lines.length === 0) return { text, lines, newest: undefined };
  const chain = followOwnChain(lines, CHAIN_CRYPTO);
  if (!chain.ok) throw new Error(`${file}: ${chain.reason}`);
  return { text, lines, newest: chain.list };
}

/**
 * Signs a list, and returns the text of the chain with the new list.
 * @throws Error when the key may not sign the next announcement
 */
export function withAnnouncement(file: ChainFile, list: AnnouncedList, secretKey: Uint8Array): string {
  const body = encodeAnnouncedList(list);
  const { r, s, recovery } = signDigest(CHAIN_CRYPTO.keccak256(announcementMessage(body)), secretKey);
  const signature = concatBytes(integerBytes(r, 32), integerBytes(s, 32), Uint8Array.of(recovery));
  const line = announcementHex(signature, body);
  const chain = followOwnChain([...file.lines, line], CHAIN_CRYPTO);
  if (!chain.ok) throw new Error(chain.reason);
  const comments = describeList(chain.list).map((text) => `# ${text}\n`);
  return `${file.text}${comments.join('')}${line}\n`;
}

/** Returns the lines that describe a list. */
export function describeList(list: ChainList): string[] {
  const { version, issuedS, expiresS, signedBy, root, signers } = list;
  const by = signedBy === root ? `the root ${signedBy}` : signedBy;
  return [
    `announcement ${version}: issued ${secondText(issuedS)}, expires ${secondText(expiresS)}, signed by ${by}`,
    ...signers.map((signer) => `  ${describeSigner(signer)}`),
  ];
}

function describeSigner({ kind, key, fromS, untilS, isRevoked }: AnnouncedSigner): string {
  const from = fromS === 0 ? '' : ` from ${secondText(fromS)}`;
  const until = untilS === undefined ? '' : ` until ${secondText(untilS)}`;
  return `${kind} ${key}${isRevoked ? ' REVOKED' : from + until}`;
}
