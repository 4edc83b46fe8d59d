import type { PinStorage } from './pins.js';

/** The storage of this tab. The storage lasts until the tab is closed. */
export const tabStorage = storageOr(() => sessionStorage);
/** The storage of this browser for every page of the origin. */
export const originStorage = storageOr(() => localStorage);

/**
 * Finds a storage. If the browser forbids the page to store anything, memory keeps the values until the reader leaves the page.
 */
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
