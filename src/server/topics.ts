/** The sockets of one topic. */
export interface Topic<S> {
  /** With the price sequence that each had been sent when it joined. */
  readonly members: Map<S, number>;
  /** The price sequence of the last frame. */
  sequence: number;
}

/** Which sockets are in which topic, and up to which price sequence they have been sent what changed. */
export class Topics<S> {
  readonly #topics = new Map<number, Topic<S>>();

  /** `undefined` when nobody is in it. */
  get(topic: number): Topic<S> | undefined {
    return this.#topics.get(topic);
  }

  join(topic: number, socket: S, sequence: number): void {
    const entry = this.#topics.get(topic);
    if (entry) entry.members.set(socket, sequence);
    else this.#topics.set(topic, { members: new Map([[socket, sequence]]), sequence });
  }

  leave(topic: number, socket: S): void {
    const entry = this.#topics.get(topic);
    entry?.members.delete(socket);
    if (entry?.members.size === 0) this.#topics.delete(topic);
  }
}

/** The price sequence of what a member has been sent: the last frame's, unless it came after that. */
export function sequenceOf<S>({ members, sequence }: Topic<S>, socket: S): number {
  return Math.max(members.get(socket)!, sequence);
}
