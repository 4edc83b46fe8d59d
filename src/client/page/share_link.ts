import { type PagePlace, writePlace } from './fragment.js';
import type { PinnedSigners } from './pins.js';

/** Makes the link to a place, with the pinned signers and without the token. */
export function shareLink(place: PagePlace, pins: PinnedSigners): string {
  const [stream, evm, stark] = [pins.get('stream'), pins.get('evm'), pins.get('stark')];
  const signers = [evm, stark].flatMap((pin) => pin?.key ?? []);
  const streamSigner = stream?.key === evm?.key ? undefined : stream?.key;
  return location.origin + location.pathname + writePlace(place, { signers, streamSigner });
}
