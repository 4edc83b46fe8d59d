import { FORMER_KEY_S, type Signer } from '../model/node_list.js';
import { type Settings, signersOf } from './settings.js';

/** The largest number of keys in a node's report. */
const SIGNERS_MAX = 32;

/** The keys with which this process signs, and the keys that reloads removed in the last hour. */
export class OwnSigners {
  #signers: readonly Signer[];

  /** @param startedS the start of this process, in UNIX seconds */
  constructor(settings: Settings, startedS: number) {
    this.#signers = signersOf(settings, startedS);
  }

  get list(): readonly Signer[] {
    return this.#signers;
  }

  /** Applies the keys of a reload. A key that remains keeps its `sinceS`; a removed key ends now. */
  reload(settings: Settings, nowS: number): void {
    const before = new Map(this.#signers.map((signer) => [nameOf(signer), signer]));
    const next = signersOf(settings, nowS).map((signer) => {
      const { sinceS = nowS } = before.get(nameOf(signer)) ?? {};
      return { ...signer, sinceS };
    });
    for (const signer of next) before.delete(nameOf(signer));
    const former = [...before.values()]
      .map((signer) => ({ ...signer, untilS: Math.min(signer.untilS ?? nowS, nowS) }))
      .filter(({ untilS }) => nowS < untilS + FORMER_KEY_S);
    this.#signers = [...next, ...former].slice(0, SIGNERS_MAX);
  }
}

function nameOf({ role, signatureType, address }: Signer): string {
  return `${role} ${signatureType} ${address}`;
}
