import { recoverAddress } from '../crypto/evm.js';
import { keccak256 } from '../crypto/keccak.js';
import { type ChainCrypto, type ChainList, followOwnChain } from '../model/announcement_chain.js';
import { announcementLines } from '../wire/announcement.js';
import type { Config } from './config.js';
import type { Problem } from './document.js';
import { readPublicFile } from './secret_file.js';

const CRYPTO: ChainCrypto = { keccak256, recover: recoverAddress };
const PATH = ['keys', 'announcements'];

/** Reads the announcements of a configuration with absolute paths. An unverifiable chain is a problem. */
export function withAnnouncements(config: Config): {
  readonly config: Config;
  readonly problems: readonly Problem[];
} {
  const { announcementsFile: file } = config;
  if (file === undefined) return { config, problems: [] };
  const read = readPublicFile(file);
  if ('message' in read) return { config, problems: [{ path: PATH, message: read.message }] };
  const announcements = announcementLines(read.text);
  const chain = followOwnChain(announcements, CRYPTO);
  if (!chain.ok) return { config, problems: [{ path: PATH, message: `${file}: ${chain.reason}` }] };
  return { config: { ...config, announcements }, problems: [] };
}

/** Returns the newest list of a configuration's announcements; `undefined` without announcements. */
export function announcedList({ announcements }: Pick<Config, 'announcements'>): ChainList | undefined {
  if (announcements.length === 0) return undefined;
  const chain = followOwnChain(announcements, CRYPTO);
  return chain.ok ? chain.list : undefined;
}
