import { Roster } from '../../model/roster.js';

/** What a socket remembers of the one topic that it can be in, so that membership takes no memory beside it. */
export interface Member {
  /** Its place among the members of its topic. */
  topicPlace: number;
  /** The price sequence that it had been sent when it joined. */
  joinedAtSequence: number;
}

/** The sockets of one topic. */
export interface Topic<S extends Member> {
  readonly sockets: Roster<'topicPlace', S>;
  /** The price sequence of the last frame. */
  sequence: number;
}

/** Which sockets are in which topic, and up to which price sequence they have been sent what changed. */
export class Topics<S extends Member> {
  readonly #topics = new Map<number, Topic<S>>();

  /** `undefined` when nobody is in it. */
  get(topic: number): Topic<S> | undefined {
    return this.#topics.get(topic);
  }

  /** @param socket in no topic */
  join(topic: number, socket: S, sequence: number): void {
    let entry = this.#topics.get(topic);
    if (entry === undefined) {
      entry = { sockets: new Roster('topicPlace'), sequence };
      this.#topics.set(topic, entry);
    }
    socket.joinedAtSequence = sequence;
    entry.sockets.add(socket);
  }

  /** @param socket in that topic */
  leave(topic: number, socket: S): void {
    const { sockets } = this.#topics.get(topic)!;
    sockets.delete(socket);
    if (sockets.size === 0) this.#topics.delete(topic);
  }
}

/** The price sequence of what a member has been sent: the last frame's, unless it came after that. */
export function sequenceOf<S extends Member>({ sequence }: Topic<S>, { joinedAtSequence }: S): number {
  return Math.max(joinedAtSequence, sequence);
}
