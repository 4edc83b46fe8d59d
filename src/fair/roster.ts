/**
 * An unordered set whose members store their place in the set. A member takes the memory of one number and one reference, a third of its
 * memory in a `Set`. Removing a member needs no search.
 */
export class Roster<Place extends string, Member extends { [K in Place]: number }> {
  /** The members. Removing a member moves the last member to the free place, so a loop that removes members must run from the end. */
  readonly members: readonly Member[];
  readonly #members: Member[] = [];
  readonly #place: Place;

  /** @param place the property in which members store their place. The property must be a number before a member is first added */
  constructor(place: Place) {
    this.#place = place;
    this.members = this.#members;
  }

  get size(): number {
    return this.#members.length;
  }

  has(member: Member): boolean {
    return this.#members[member[this.#place]] === member;
  }

  /** @param member must not be in the set */
  add(member: Member): void {
    this.#put(member, this.#members.length);
  }

  /** @param member may be missing in the set */
  delete(member: Member): void {
    if (!this.has(member)) return;
    const last = this.#members.pop()!;
    if (last !== member) this.#put(last, member[this.#place]);
  }

  #put(member: Member, place: number): void {
    this.#members[place] = member;
    (member as { [K in Place]: number })[this.#place] = place as Member[Place];
  }
}
