import type { PinStorage } from './pins.js';

/** The storage of this tab until it is closed. */
export const tabStorage = storageOr(() => sessionStorage);
/** The storage of this browser for every page of the origin. */
export const originStorage = storageOr(() => localStorage);

/** Finds a storage. A browser may forbid a page to store anything; then the values are kept until the reader leaves the page. */
function storageOr(find: () => Storage): PinStorage {
  try {
    const storage = find();
    storage.getItem('');
    return storage;
  } catch {
    const values = new Map<string, string>();
    return {
      getItem: (name) => values.get(name) ?? null,
      setItem: (name, value) => void values.set(name, value),
      removeItem: (name) => void values.delete(name),
    };
  }
}
