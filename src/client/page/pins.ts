import { DEFAULT_SIGNATURE_TYPE, KEY_PATTERNS, type SignatureType } from '../../wire/signatures.js';

/**
 * The origin of a pinned key.
 * - `link`: the link that opened the page.
 * - `first use`: the first key that the page saw.
 * - `reader`: the reader's click.
 */
export type PinSource = 'link' | 'first use' | 'reader';

/** The words for the origin of a key. */
export const SOURCE_TEXTS: Readonly<Record<PinSource, string>> = {
  link: 'pinned by the link',
  'first use': 'pinned on first use',
  reader: 'pinned by you',
};

/** A key whose signatures count. */
export interface Pin {
  /** An EVM address or a Stark public key, as the link or the service writes it. */
  readonly key: string;
  readonly source: PinSource;
}

/** The part of `localStorage` that is used. */
export interface PinStorage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

/** The use of a pinned key: aggregates of a signature type, or streaming payloads. */
export type PinName = SignatureType | 'stream';

const PATTERNS: Readonly<Record<PinName, RegExp>> = {
  ...KEY_PATTERNS,
  stream: KEY_PATTERNS[DEFAULT_SIGNATURE_TYPE],
};

/** Compares two keys, whose digits may differ in case. */
export function isSameKey(one: string | undefined, other: string | undefined): boolean {
  return one?.toLowerCase() === other?.toLowerCase();
}

/**
 * The pinned keys, one for each name. All pages of this origin share the keys, so that a first use happens once and not in every tab.
 */
export class PinnedSigners {
  readonly #storage: PinStorage;

  constructor(storage: PinStorage) {
    this.#storage = storage;
  }

  /** Returns a pinned key. The EVM key counts for streams until streams have their own key. */
  get(name: PinName): Pin | undefined {
    return this.#read(name) ?? (name === 'stream' ? this.#read(DEFAULT_SIGNATURE_TYPE) : undefined);
  }

  /** Pins a key in place of another key. @returns the former key, if it was different */
  pin(name: PinName, key: string, source: PinSource): Pin | undefined {
    if (!PATTERNS[name].test(key)) throw new RangeError(`"${key}" is no key that signs ${name}`);
    const before = this.get(name);
    this.#storage.setItem(itemOf(name), `${source}|${key}`);
    return isSameKey(before?.key, key) ? undefined : before;
  }

  /** Pins a key unless a key is already pinned. @returns true if it pinned this key */
  pinOnFirstUse(name: PinName, key: string): boolean {
    if (!PATTERNS[name].test(key) || this.get(name) !== undefined) return false;
    this.pin(name, key, 'first use');
    return true;
  }

  forget(): void {
    for (const name of Object.keys(PATTERNS) as PinName[]) this.#storage.removeItem(itemOf(name));
  }

  #read(name: PinName): Pin | undefined {
    const [source = '', key = ''] = this.#storage.getItem(itemOf(name))?.split('|') ?? [];
    return PATTERNS[name].test(key) && Object.hasOwn(SOURCE_TEXTS, source)
      ? { key, source: source as PinSource }
      : undefined;
  }
}

function itemOf(name: PinName): string {
  return `tickseal.signer.${name}`;
}
