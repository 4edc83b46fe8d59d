import { Roster } from '../fair/roster.js';

/** The connections that share the bytes of each frame, and the topic on which frames are published. */
export class ReaderGroup<Session extends { memberPlace: number }> {
  /** The connections in the topic, which receive the next frame. */
  readonly members = new Roster<'memberPlace', Session>('memberPlace');
  /**
   * The connections outside the topic: slow readers, and new connections that must not receive a frame that was made before
   * they subscribed.
   */
  readonly waiting = new Set<Session>();
  /** True while the group is in the list of groups that have frames to send. */
  dirty = false;

  constructor(
    readonly key: string,
    readonly topic: number,
    /** The sequence up to which the members have received all changes. */
    public sequence: number,
  ) {}

  get isEmpty(): boolean {
    return this.members.size + this.waiting.size === 0;
  }
}
