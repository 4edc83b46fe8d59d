import { announcedList } from '../config/announced_chain.js';
import type { Config } from '../config/config.js';
import { keysAt, secondText } from '../model/announcement_chain.js';
import type { KeyState } from '../model/key_schedule.js';
import { type NodeList, type NodeSigner, stateOf } from '../model/node_list.js';
import { aggregateKind, type SignerKind } from '../wire/announcement.js';
import type { AnnouncedState } from './metrics/state.js';

/** Compares the keys with which this node signs now, and with which it will sign, with the newest announcement. */
export function announcedState(
  config: Config,
  { self, signers }: NodeList,
  nowS: number,
): AnnouncedState | undefined {
  const list = announcedList(config);
  if (list === undefined) return undefined;
  const unannounced = signers.filter(
    (signer) =>
      signer.node === self &&
      !keysAt(list, [kindOf(signer)], Math.max(nowS, signer.fromS ?? 0)).some(
        (key) => BigInt(key) === BigInt(signer.address),
      ),
  );
  const inState = (state: KeyState) => unannounced.filter((signer) => stateOf(signer, nowS) === state);
  const next = inState('next').toSorted((one, other) => one.fromS! - other.fromS!)[0];
  return {
    unannouncedKeys: inState('present').length,
    nextUnannounced: next && { address: next.address, fromSeconds: next.fromS! },
    expiresAtSeconds: list.expiresS,
  };
}

/** Returns the warnings about changes of keys that are planned. */
export function announcementWarnings(state: AnnouncedState | undefined): readonly string[] {
  if (state?.nextUnannounced === undefined) return [];
  const { address, fromSeconds } = state.nextUnannounced;
  return [`the key ${address} signs from ${secondText(fromSeconds)} on, and no announcement names it then`];
}

function kindOf({ role, signatureType }: NodeSigner): SignerKind {
  return role === 'stream' ? 'stream' : aggregateKind(signatureType);
}
