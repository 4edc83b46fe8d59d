import { byId, element } from './elements.js';
import type { SealFacts } from './seal_card.js';

/** The card that explains the seal. The card's code loads when the card opens, so that the initial load stays small. */
export class SealButton {
  readonly #root = byId('seal');
  readonly #factsNow: () => SealFacts | undefined;
  #isEmpty = true;

  /** @param factsNow returns the facts that the card shows; `undefined` while no asset is chosen */
  constructor(factsNow: () => SealFacts | undefined) {
    this.#factsNow = factsNow;
    this.#root.addEventListener('toggle', (event) => {
      if ((event as ToggleEvent).newState === 'open') void this.#draw();
      else this.#empty();
    });
    byId('grid').addEventListener('click', ({ target }) => {
      if ((target as Element).closest('.sealed') !== null) this.#root.showPopover();
    });
  }

  close(): void {
    this.#root.hidePopover();
  }

  /** Draws an open card that still waits for its proof. */
  continue(): void {
    if (this.#isEmpty && this.#root.matches(':popover-open')) void this.#draw();
  }

  /** Draws the public log again in an open card. */
  async showLog(): Promise<void> {
    if (!this.#root.matches(':popover-open')) return;
    const { drawLogSteps } = await import('./seal_card.js');
    const part = this.#root.querySelector<HTMLElement>('.log');
    if (part !== null) drawLogSteps(part, this.#factsNow()?.log);
  }

  async #draw(): Promise<void> {
    const facts = this.#factsNow();
    if (facts === undefined) return;
    this.#isEmpty = facts.proven === undefined;
    try {
      const { drawSealCard } = await import('./seal_card.js');
      drawSealCard(this.#root, facts);
    } catch {
      this.#root.replaceChildren(
        element('p', { class: 'problem' }, 'The service did not send this part of the page.'),
      );
    }
  }

  #empty(): void {
    this.#isEmpty = true;
    this.#root.replaceChildren();
  }
}
