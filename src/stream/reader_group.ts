import { Roster } from '../fair/roster.js';

/** The connections that share each frame's bytes, and the topic it is published on. */
export class ReaderGroup<Session extends { memberPlace: number }> {
  /** The connections in the topic: they get the next frame. */
  readonly members = new Roster<'memberPlace', Session>('memberPlace');
  /** The connections outside the topic: newcomers that must not get a frame made before they came, and slow readers. */
  readonly waiting = new Set<Session>();
  /** The group is in the list of those that have something to send. */
  dirty = false;

  constructor(
    readonly key: string,
    readonly topic: number,
    /** The members have got all changes up to this sequence. */
    public sequence: number,
  ) {}

  get isEmpty(): boolean {
    return this.members.size + this.waiting.size === 0;
  }
}
