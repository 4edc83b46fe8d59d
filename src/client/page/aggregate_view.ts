import { ageMs, type Quote, type Seal } from './board.js';
import { byId, element, setText } from './elements.js';
import { ageText, shortHex, shownDecimals, shownPrice } from './price_text.js';
import type { ProofContent } from './proof.js';
import { differenceText, type PublisherPlace, publisherPlaces } from './publisher_places.js';
import type { ProvenAggregate } from './seal_card.js';

const NONE = '—';

/** The facts of the chosen asset that the view compares. */
export interface AggregateFacts {
  /** The newest streamed value; `undefined` without one, and while the page shows a past time. */
  readonly quote: Quote | undefined;
  readonly seal: Seal;
  readonly isPast: boolean;
  readonly proven: ProvenAggregate | undefined;
  /** The time by the computer's monotonic clock, as in {@link Quote.madeMs}. */
  readonly nowMs: number;
  /** The service's time in UNIX ms. */
  readonly serviceMs: number;
}

/** A drawn publisher. Until the page reads another aggregate, only the age of the price changes. */
interface Dot {
  readonly place: PublisherPlace;
  readonly age: HTMLElement;
  readonly label: HTMLElement;
}

/** The streamed value beside the signed aggregate, and the publishers' prices as dots around the aggregate. */
export class AggregateView {
  readonly #strip = byId('strip');
  #content: ProofContent | undefined;
  #dots: readonly Dot[] = [];

  draw(facts: AggregateFacts): void {
    const { quote, proven, isPast } = facts;
    const content = proven?.proof.report.verdict === 'verified' ? proven.proof.content : undefined;
    const price = quote?.price ?? content?.price;
    // Both values have the same decimals, so that they can be compared digit by digit.
    const decimals = price === undefined ? 0 : shownDecimals(price);
    const textOf = (value: bigint | undefined) => (value === undefined ? NONE : shownPrice(value, decimals));
    setText(byId('streamed'), textOf(quote?.price));
    setText(byId('streamed-note'), streamedNote(facts));
    setText(byId('aggregate'), textOf(content?.price));
    setText(byId('aggregate-note'), aggregateNote(content, facts));
    const gap = quote && content && differenceText(quote.price - content.price, content.price);
    setText(byId('value-gap'), gap ?? NONE);
    if (content !== this.#content) this.#place(content);
    for (const { place, age, label } of this.#dots) {
      const oldMs = isPast
        ? Number((content!.signedAtNs - place.timestampNs) / 1_000_000n)
        : ageMs(place.timestampNs, facts.serviceMs);
      const text = ageText(oldMs);
      if (label.textContent === text) continue;
      label.textContent = text;
      age.textContent = `${text} old`;
    }
  }

  #place(content: ProofContent | undefined): void {
    this.#content = content;
    const list = this.#strip.querySelector('ul')!;
    const places = content === undefined ? [] : publisherPlaces(content, list.clientWidth);
    this.#dots = places.map((place) => ({
      place,
      age: element('span', { class: 'unseen' }),
      label: element('small', { 'aria-hidden': 'true', class: 'number' }),
    }));
    const items = this.#dots.map(({ place, age, label }) => {
      const { key, difference, percent, line } = place;
      const text = `${shortHex(key)}: ${difference}, `;
      const item = element('li', { title: `${key}\n${difference}` }, element('i', {}));
      item.append(element('span', { class: 'unseen' }, text), age, label);
      item.style.left = `${percent}%`;
      item.dataset['line'] = String(line ?? '');
      return item;
    });
    list.replaceChildren(...items);
    const caption =
      places.length === 0
        ? ''
        : `${places[0]!.difference} to ${places.at(-1)!.difference} around the ${content!.algorithm}`;
    setText(byId('strip-text'), caption);
  }
}

function streamedNote({ quote, seal, isPast, nowMs }: AggregateFacts): string {
  if (isPast) return 'not of a past time';
  if (quote === undefined) return '';
  return `${seal}, ${ageText(nowMs - quote.madeMs)} old`;
}

function aggregateNote(content: ProofContent | undefined, { isPast, serviceMs }: AggregateFacts): string {
  if (content === undefined) return '';
  const count = content.publishers.length;
  const inputs = count === 0 ? '' : ` of ${count}`;
  const age = isPast ? '' : `, signed ${ageText(ageMs(content.signedAtNs, serviceMs))} ago`;
  return `${content.algorithm}${inputs}${age}`;
}
