import { Roster } from '../../model/roster.js';

/**
 * The fields in which a socket stores its topic. A socket is in at most one topic. The socket itself has these fields, which saves memory
 * for each membership.
 */
export interface TopicMember {
  /** The socket's index in the roster of its topic. */
  topicPlace: number;
  /** The price sequence that the socket had received when it joined. */
  joinedAtSequence: number;
}

/** The sockets of a topic. */
export interface Topic<S extends TopicMember> {
  readonly sockets: Roster<'topicPlace', S>;
  /** The price sequence of the last frame. */
  sequence: number;
  /** The exclusive upper bound of the indexes to check next. Checks go from the last member to the first; see {@link lookInTurn}. */
  nextLook: number;
  lookedAtMs: number;
}

/** The sockets of each topic, and the price sequence up to which the sockets have received all changes. */
export class TopicMembership<S extends TopicMember> {
  readonly #topics = new Map<number, Topic<S>>();

  /** Returns the topic; `undefined` when the topic has no members. */
  get(topic: number): Topic<S> | undefined {
    return this.#topics.get(topic);
  }

  /** @param socket must be in no topic */
  join(topic: number, socket: S, sequence: number): void {
    let entry = this.#topics.get(topic);
    if (entry === undefined) {
      entry = { sockets: new Roster('topicPlace'), sequence, nextLook: 0, lookedAtMs: 0 };
      this.#topics.set(topic, entry);
    }
    socket.joinedAtSequence = sequence;
    entry.sockets.add(socket);
  }

  /** @param socket must be in this topic */
  leave(topic: number, socket: S): void {
    const { sockets } = this.#topics.get(topic)!;
    sockets.delete(socket);
    if (sockets.size === 0) this.#topics.delete(topic);
  }
}

/**
 * Returns the price sequence that a member has received: the sequence of the last frame, or the member's own sequence if the
 * member joined later.
 */
export function sequenceOf<S extends TopicMember>({ sequence }: Topic<S>, { joinedAtSequence }: S): number {
  return Math.max(joinedAtSequence, sequence);
}

/** Checks all members. A member may leave during its check. */
export function lookAtAll<S extends TopicMember>({ sockets }: Topic<S>, look: (member: S) => void): void {
  for (let i = sockets.size - 1; i >= 0; i--) look(sockets.at(i));
}

/**
 * The number of bytes of frames, and the number of milliseconds, after which the next check of a member is due. The first of the
 * two bounds decides.
 */
const BYTES_BETWEEN_LOOKS = 16 * 1024;
const MS_BETWEEN_LOOKS = 400;

/**
 * Checks the members whose turn it is, before a frame is published. Members may leave during the check. The function checks only
 * some members, because checking each of 5,000 members for each frame took 5 % of the time of sending the frame.
 * @param nowMs the time of a clock that does not go back
 */
export function lookInTurn<S extends TopicMember>(
  topic: Topic<S>,
  frameBytes: number,
  nowMs: number,
  look: (member: S) => void,
): void {
  const { sockets } = topic;
  const share = Math.max(frameBytes / BYTES_BETWEEN_LOOKS, (nowMs - topic.lookedAtMs) / MS_BETWEEN_LOOKS);
  topic.lookedAtMs = nowMs;
  for (let left = Math.ceil(sockets.size * Math.min(share, 1)); left > 0 && sockets.size > 0; left--) {
    if (topic.nextLook === 0 || topic.nextLook > sockets.size) topic.nextLook = sockets.size;
    look(sockets.at(--topic.nextLook));
  }
}
