/** Adds a value to a key's set, which is created for the first value. */
export function addTo<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key);
  if (set) set.add(value);
  else sets.set(key, new Set([value]));
}

/** Removes a value from a key's set. Removes an empty set from the map. */
export function deleteFrom<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key)!;
  set.delete(value);
  if (set.size === 0) sets.delete(key);
}
