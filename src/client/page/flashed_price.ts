import type { Quote } from './board.js';
import { setText } from './elements.js';
import { keptLength } from './price_text.js';

/** The time for which changed digits keep their colour: shorter than the interval of frames, so that each change is visible. */
const FLASH_MS = 300;
const REDUCED_MOTION = matchMedia('(prefers-reduced-motion: reduce)');

/** The times at which the colours of digits end, by the digits' elements. The earliest time is the first. */
const endsMs = new Map<HTMLElement, number>();
let isTimed = false;

/**
 * Shows a price, and colours the digits that changed for a moment. The colour does not fade, because a fading colour makes the
 * browser paint the page in each animation frame: 47 frames a second with 17 rows, and 10 without it.
 * @param direction 0 for a first price
 */
export function showPrice(node: HTMLElement, text: string, direction: Quote['direction']): void {
  const before = node.textContent;
  if (before === text) return;
  if (direction === 0 || REDUCED_MOTION.matches) {
    setText(node, text);
    return;
  }
  const [first, digits] = partsOf(node);
  const kept = keptLength(before, text);
  // The parts stay in the page, because new elements take the browser longer than new texts in old elements.
  first.data = text.slice(0, kept);
  (digits.firstChild as Text).data = text.slice(kept);
  digits.dataset['direction'] = String(direction);
  endsMs.delete(digits);
  endsMs.set(digits, performance.now() + FLASH_MS);
  if (!isTimed) setTimeout(endFlashes, FLASH_MS);
  isTimed = true;
}

/** Returns the text of the unchanged digits and the element of the changed digits. Adds them to a price without them. */
function partsOf(node: HTMLElement): readonly [first: Text, digits: HTMLElement] {
  const { firstChild, lastChild } = node;
  if (lastChild instanceof HTMLElement) return [firstChild as Text, lastChild];
  const first = new Text('');
  const digits = document.createElement('span');
  digits.append(new Text(''));
  node.replaceChildren(first, digits);
  return [first, digits];
}

/** Ends the colour of all digits whose time is over. One timer serves all rows, so that their colours end in the same frame. */
function endFlashes(): void {
  const nowMs = performance.now();
  for (const [digits, endMs] of endsMs) {
    if (endMs > nowMs) {
      setTimeout(endFlashes, endMs - nowMs);
      return;
    }
    endsMs.delete(digits);
    delete digits.dataset['direction'];
  }
  isTimed = false;
}
