import { Roster } from '../../fair/roster.js';

/** What a socket remembers of the one topic that it can be in, so that membership takes no memory beside it. */
export interface TopicMember {
  /** Its place among the members of its topic. */
  topicPlace: number;
  /** The price sequence that it had been sent when it joined. */
  joinedAtSequence: number;
}

/** The sockets of one topic. */
export interface Topic<S extends TopicMember> {
  readonly sockets: Roster<'topicPlace', S>;
  /** The price sequence of the last frame. */
  sequence: number;
  /** The members before this place are looked at next, from the last to the first; see {@link lookInTurn}. */
  nextLook: number;
  lookedAtMs: number;
}

/** Which sockets are in which topic, and up to which price sequence they have been sent what changed. */
export class TopicMembership<S extends TopicMember> {
  readonly #topics = new Map<number, Topic<S>>();

  /** `undefined` when nobody is in it. */
  get(topic: number): Topic<S> | undefined {
    return this.#topics.get(topic);
  }

  /** @param socket in no topic */
  join(topic: number, socket: S, sequence: number): void {
    let entry = this.#topics.get(topic);
    if (entry === undefined) {
      entry = { sockets: new Roster('topicPlace'), sequence, nextLook: 0, lookedAtMs: 0 };
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
export function sequenceOf<S extends TopicMember>({ sequence }: Topic<S>, { joinedAtSequence }: S): number {
  return Math.max(joinedAtSequence, sequence);
}

/** Looks at every member, which may leave meanwhile. */
export function lookAtAll<S extends TopicMember>({ sockets }: Topic<S>, look: (member: S) => void): void {
  for (let i = sockets.members.length - 1; i >= 0; i--) look(sockets.members[i]!);
}

/** A member is looked at again after this many bytes of frames, or this many milliseconds if they pass first. */
const BYTES_BETWEEN_LOOKS = 16 * 1024;
const MS_BETWEEN_LOOKS = 400;

/**
 * Looks at the members whose turn it is before a frame is published; they may leave meanwhile. To look at each of 5,000 members for each
 * frame took a twentieth of the time of sending it.
 * @param nowMs of a clock that does not go back
 */
export function lookInTurn<S extends TopicMember>(
  topic: Topic<S>,
  frameBytes: number,
  nowMs: number,
  look: (member: S) => void,
): void {
  const { members } = topic.sockets;
  const share = Math.max(frameBytes / BYTES_BETWEEN_LOOKS, (nowMs - topic.lookedAtMs) / MS_BETWEEN_LOOKS);
  topic.lookedAtMs = nowMs;
  for (let left = Math.ceil(members.length * Math.min(share, 1)); left > 0 && members.length > 0; left--) {
    if (topic.nextLook === 0 || topic.nextLook > members.length) topic.nextLook = members.length;
    look(members[--topic.nextLook]!);
  }
}
