/** The number of members in a block, a power of two. */
const BLOCK = 1 << 9;
const BLOCK_BITS = Math.log2(BLOCK);

/**
 * An unordered set whose members store their place in the set. A member takes the memory of one number and one reference, a third of its
 * memory in a `Set`. Removing a member needs no search. A large set adds memory in blocks, because an array that grows leaves its earlier
 * memory, and some of its new memory, unused.
 */
export class Roster<Place extends string, Member extends { [K in Place]: number }>
  implements Iterable<Member>
{
  readonly #first: Member[] = [];
  /** The blocks after the first; `undefined` while the set is small. */
  #blocks: (Member | undefined)[][] | undefined;
  #size = 0;
  readonly #place: Place;

  /** @param place the property in which members store their place. The property must be a number before a member is first added */
  constructor(place: Place) {
    this.#place = place;
  }

  get size(): number {
    return this.#size;
  }

  has(member: Member): boolean {
    const place = member[this.#place];
    return place < this.#size && this.at(place) === member;
  }

  /**
   * Returns the member at a place. Removing a member moves the last member to the free place, so a loop that removes members must run from
   * the end.
   * @param place from 0 to {@link size} - 1
   */
  at(place: number): Member {
    return (place < BLOCK ? this.#first[place] : this.#blocks![blockOf(place)]![place % BLOCK])!;
  }

  /** Yields the members. The set must not change during the loop. */
  *[Symbol.iterator](): Iterator<Member> {
    for (let place = 0; place < this.#size; place++) yield this.at(place);
  }

  /** @param member must not be in the set */
  add(member: Member): void {
    this.#put(member, this.#size++);
  }

  /** @param member may be missing in the set */
  delete(member: Member): void {
    if (!this.has(member)) return;
    const last = this.#takeLast();
    if (last !== member) this.#put(last, member[this.#place]);
  }

  #put(member: Member, place: number): void {
    if (place < BLOCK) this.#first[place] = member;
    else {
      this.#blocks ??= [];
      const block = blockOf(place);
      this.#blocks[block] ??= new Array<Member | undefined>(BLOCK);
      this.#blocks[block][place % BLOCK] = member;
    }
    (member as { [K in Place]: number })[this.#place] = place as Member[Place];
  }

  #takeLast(): Member {
    const place = --this.#size;
    if (place < BLOCK) return this.#first.pop()!;
    const last = this.at(place);
    if (place % BLOCK === 0) this.#blocks!.pop();
    else this.#blocks![blockOf(place)]![place % BLOCK] = undefined;
    return last;
  }
}

/** Returns the index of the block of a place after the first block. */
function blockOf(place: number): number {
  return (place >> BLOCK_BITS) - 1;
}
