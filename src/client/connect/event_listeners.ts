/** Listeners by event name. */
export class EventListeners<Events extends Readonly<Record<string, unknown>>> {
  readonly #listeners = new Map<keyof Events, Set<(event: never) => void>>();

  /** Calls `listener` with every event of the name. @returns a function that removes the listener */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    for (const listener of this.#listeners.get(name) ?? [])
      (listener as (event: Events[Name]) => void)(event);
  }
}
