/** Adds a value to the set of a key, which is made when it is the first. */
export function addTo<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key);
  if (set) set.add(value);
  else sets.set(key, new Set([value]));
}

/** Takes a value out of the set of a key, and an empty set out of the map. */
export function deleteFrom<K, V>(sets: Map<K, Set<V>>, key: K, value: V): void {
  const set = sets.get(key)!;
  set.delete(value);
  if (set.size === 0) sets.delete(key);
}
