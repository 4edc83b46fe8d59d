import type { PinStorage } from './pins.js';

/** What this tab keeps until it is closed. */
export const tabStorage = storageOr(() => sessionStorage);
/** What this browser keeps for every page of the origin. */
export const originStorage = storageOr(() => localStorage);

/** A browser may forbid a page to store anything; then it is kept until the page is left. */
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
