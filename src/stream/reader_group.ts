import { Roster } from '../model/roster.js';

/** The connections that share the bytes of each frame and its topic. */
export class ReaderGroup<Session extends { memberPlace: number }> {
  /** The connections in the topic, which receive the next frame. */
  readonly members = new Roster<'memberPlace', Session>('memberPlace');
  /**
   * The connections outside the topic: slow readers and new connections. A new connection must not receive a frame from before its
   * subscription.
   */
  readonly waiting = new Set<Session>();
  /** True while the group is in the list of groups with unsent frames. */
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
