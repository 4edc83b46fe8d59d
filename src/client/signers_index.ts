/** The announced keys of a service, for Node and browsers. The keys follow a chain from a pinned root or key. */

export type { ChainList, ChainPlace } from '../model/announcement_chain.js';
export type { AnnouncedList, AnnouncedSigner, SignerKind } from '../wire/announcement.js';
export { AnnouncedSigners, type FollowOptions, followSigners } from './signers/followed_signers.js';
