import type { QuorumRules } from '../quorum/quorum_options.js';
import type { OperatorVote } from '../quorum/quorum_tick.js';
import { formatDecimalPrice } from '../verify/decimal_price.js';
import { copyButton } from './copy_button.js';
import { element } from './elements.js';
import { ageText, exactPrice, shownDecimals, shownPrice } from './price_text.js';
import { hexText } from './proof_parts.js';
import { type OperatorState, type QuorumRow, voteText } from './quorum_board.js';
import type { LinkOperator } from './quorum_link.js';
import { quorumRing } from './quorum_ring.js';

/** The sentence that says which rings a row has. */
const RINGS_TEXT =
  'Each part of the ring is an operator whose signature your browser has checked. A public log belongs to one service, so the page of ' +
  'each operator shows the ring of its log.';

/** Describes the rules for the prices that the page shows. */
export function rulesText(count: number, { threshold, maxSpread, maxAgeMs }: QuorumRules): string {
  const percent = formatDecimalPrice(maxSpread);
  return (
    `A price is the median of at least ${threshold} of ${count} operators that agree: within ${percent} % of each other, and at ` +
    `most ${maxAgeMs / 1_000} s old. Your browser checks each operator's signature against the key in your link.`
  );
}

/** The list of operators with their states. */
export class OperatorList {
  readonly root: HTMLElement;
  readonly #items: readonly (readonly [item: HTMLElement, state: HTMLElement])[];

  constructor(operators: readonly LinkOperator[]) {
    this.#items = operators.map(({ name, signers }) => {
      const state = element('span', { class: 'state' }, 'connecting');
      const keys = signers.map(hexText);
      const item = element('li', {}, element('i', { class: 'dot' }), element('b', {}, name), state, ...keys);
      return [item, state] as const;
    });
    this.root = element('ul', { class: 'operators' }, ...this.#items.map(([item]) => item));
  }

  draw(states: readonly OperatorState[]): void {
    for (const [i, { verdict, text, evidence }] of states.entries()) {
      const [item, state] = this.#items[i]!;
      if (evidence !== undefined && item.querySelector('button') === null)
        item.append(copyButton('Copy evidence', () => evidence));
      item.dataset['verdict'] = verdict;
      if (state.textContent !== text) state.textContent = text;
    }
  }
}

/** The table of the prices. Each row opens to the operators' prices. */
export class QuorumTable {
  readonly root: HTMLElement;
  readonly #body = element('tbody', {});
  readonly #rows = new Map<string, QuorumTableRow>();
  readonly #count: number;

  /** @param count the number of operators */
  constructor(count: number) {
    this.#count = count;
    const heads = ['Asset', 'Price', 'Operators', 'Age'].map((text) => element('th', { scope: 'col' }, text));
    const caption = element('caption', { class: 'unseen' }, 'Prices on which the operators agree');
    this.root = element('table', {}, caption, element('thead', {}, element('tr', {}, ...heads)), this.#body);
  }

  /** Shows these rows in this order. */
  draw(rows: readonly QuorumRow[]): void {
    const kept = new Set(rows.map(({ symbol }) => symbol));
    for (const [symbol, { root }] of this.#rows) {
      if (kept.has(symbol)) continue;
      for (const part of root) part.remove();
      this.#rows.delete(symbol);
    }
    let isNew = false;
    for (const row of rows) {
      let shown = this.#rows.get(row.symbol);
      if (shown === undefined) {
        shown = new QuorumTableRow(row.symbol, this.#count);
        this.#rows.set(row.symbol, shown);
        isNew = true;
      }
      shown.draw(row);
    }
    if (isNew) this.#body.append(...rows.flatMap(({ symbol }) => this.#rows.get(symbol)!.root));
  }
}

/** A row of the table, and the row below it with the operators' prices. */
class QuorumTableRow {
  readonly root: readonly HTMLElement[];
  readonly #count: number;
  readonly #price = element('td', { class: 'price number' });
  readonly #ring = element('button', { type: 'button', 'aria-expanded': 'false' });
  readonly #age = element('td', { class: 'age number' });
  readonly #votes = element('ul', { class: 'votes' });
  readonly #details: HTMLElement;
  #verdicts = '';
  #decimals: number | undefined;

  constructor(symbol: string, count: number) {
    this.#count = count;
    const name = element('th', { scope: 'row' }, symbol);
    const row = element(
      'tr',
      { 'data-symbol': symbol },
      name,
      this.#price,
      element('td', {}, this.#ring),
      this.#age,
    );
    const rings = element('p', { class: 'rings' }, RINGS_TEXT);
    this.#details = element('tr', { class: 'details' }, element('td', { colspan: '4' }, this.#votes, rings));
    this.#details.hidden = true;
    this.#ring.addEventListener('click', () => {
      this.#details.hidden = !this.#details.hidden;
      this.#ring.setAttribute('aria-expanded', String(!this.#details.hidden));
    });
    this.root = [row, this.#details];
  }

  draw(row: QuorumRow): void {
    const { price, ageMs, votes, reason } = row;
    if (price !== undefined) this.#decimals ??= shownDecimals(price);
    const [text, age] = [
      price === undefined ? '—' : shownPrice(price, this.#decimals!),
      ageMs === undefined ? '' : ageText(ageMs),
    ];
    if (this.#price.textContent !== text) this.#price.textContent = text;
    this.#price.title = price === undefined ? reason : exactPrice(price);
    if (this.#age.textContent !== age) this.#age.textContent = age;
    this.#drawRing(row);
    if (!this.#details.hidden) this.#votes.replaceChildren(...votes.map(voteItem));
  }

  #drawRing({ symbol, price, agreeing, votes, reason }: QuorumRow): void {
    const verdicts = `${reason} ${votes.map(({ verdict }) => verdict).join()}`;
    if (verdicts === this.#verdicts) return;
    this.#verdicts = verdicts;
    const text = price === undefined ? reason : `${agreeing} of ${this.#count}`;
    const name =
      price === undefined ? `no price: ${reason}` : `${agreeing} of ${this.#count} operators agree`;
    this.#ring.setAttribute('aria-label', `${symbol}: ${name}`);
    this.#ring.dataset['state'] = price === undefined ? 'none' : agreeing === this.#count ? 'all' : 'some';
    this.#ring.replaceChildren(quorumRing(votes, this.#count), element('span', {}, text));
  }
}

function voteItem(vote: OperatorVote): HTMLElement {
  const { operator, verdict, price, signer } = vote;
  return element(
    'li',
    { 'data-verdict': verdict },
    element('i', { class: 'dot' }),
    element('b', {}, operator),
    element('span', { class: 'number' }, price === undefined ? '—' : exactPrice(price)),
    element('span', { class: 'state' }, voteText(vote)),
    ...(signer === undefined ? [] : [hexText(signer)]),
  );
}
