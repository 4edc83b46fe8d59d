import { Roster } from '../fair/roster.js';

/** The connections that share each frame's bytes, and the topic on which it is published. */
export class ReaderGroup<Session extends { memberPlace: number }> {
  /** The connections in the topic: they receive the next frame. */
  readonly members = new Roster<'memberPlace', Session>('memberPlace');
  /** The connections outside the topic: newcomers that must not receive a frame made before they came, and slow readers. */
  readonly waiting = new Set<Session>();
  /** True while the group is in the list of groups that have something to send. */
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
