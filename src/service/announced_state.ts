import { announcedList } from '../config/announced_chain.js';
import type { Config } from '../config/config.js';
import type { AnnouncedState } from '../metrics/state.js';
import { keysAt } from '../model/announcement_chain.js';
import { type NodeList, type NodeSigner, stateOf } from '../model/node_list.js';
import type { SignerKind } from '../wire/announcement.js';

/** Compares the keys with which this node signs now with the newest announcement. */
export function announcedState(
  config: Config,
  { self, signers }: NodeList,
  nowS: number,
): AnnouncedState | undefined {
  const list = announcedList(config);
  if (list === undefined) return undefined;
  const own = signers.filter((signer) => signer.node === self && stateOf(signer, nowS) === 'present');
  const unannounced = own.filter(
    (signer) => !keysAt(list, [kindOf(signer)], nowS).some((key) => BigInt(key) === BigInt(signer.address)),
  );
  return { unannouncedKeys: unannounced.length, expiresAtSeconds: list.expiresS };
}

function kindOf({ role, signatureType }: NodeSigner): SignerKind {
  return role === 'stream' ? 'stream' : `${signatureType} aggregate`;
}
