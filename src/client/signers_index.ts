/** The keys that a service announces, followed from a pinned root or key, for Node and browsers. */

export type { ChainList, ChainPlace } from '../model/announcement_chain.js';
export type { AnnouncedList, AnnouncedSigner, SignerKind } from '../wire/announcement.js';
export { AnnouncedSigners, type FollowOptions, followSigners } from './signers/followed_signers.js';
