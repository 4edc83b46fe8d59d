import { type PagePlace, readPlace, writePlace } from './fragment.js';

/**
 * The time without another key after which the page writes the place into the address. Browsers refuse more than 100 entries in
 * 30 s.
 */
const REST_MS = 400;
/** The state of an entry of the browser's history that the page has made itself. */
const OWN_ENTRY = 'inside';

/** The place in the address, with the browser's Back and Forward. */
export class PageAddress {
  #place = readPlace(location.hash);
  #timer = 0;

  /** @param onTravel called with the new place after Back, Forward or another address in the same tab */
  constructor(onTravel: (place: PagePlace) => void) {
    addEventListener('popstate', () => {
      clearTimeout(this.#timer);
      this.#place = readPlace(location.hash);
      onTravel(this.#place);
    });
  }

  get place(): PagePlace {
    return this.#place;
  }

  /** Returns true if the page has made this entry of the history, so that Back stays on the page. */
  get isInside(): boolean {
    return history.state === OWN_ENTRY;
  }

  /** Goes to a place, with a new entry in the history. */
  push(place: PagePlace): void {
    clearTimeout(this.#timer);
    this.#place = place;
    history.pushState(OWN_ENTRY, '', pathTo(place));
  }

  /** Goes to a place that was selected by a key. Several keys in quick succession make a single entry. */
  pushAfterRest(place: PagePlace): void {
    clearTimeout(this.#timer);
    this.#place = place;
    this.#timer = setTimeout(() => this.push(place), REST_MS);
  }

  /** Writes a place into the current entry of the history. */
  replace(place: PagePlace): void {
    clearTimeout(this.#timer);
    this.#place = place;
    history.replaceState(history.state, '', pathTo(place));
  }
}

function pathTo(place: PagePlace): string {
  return location.pathname + writePlace(place, { signers: [], streamSigner: undefined });
}
