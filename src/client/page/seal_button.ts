import { byId, element } from './elements.js';
import type { SealFacts } from './seal_card.js';

/**
 * The card that explains the seal. The card's code loads after the first proof, so that the initial load stays small and the card
 * also opens while the computer is offline.
 */
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
    // The table chooses the row's asset first, which closes the card of another asset.
    document.querySelector('.list')!.addEventListener('click', ({ target }) => {
      if ((target as Element).closest('#grid .sealed') !== null) this.#root.showPopover();
    });
  }

  close(): void {
    this.#root.hidePopover();
  }

  /** Loads the code of the card after a proof is read, and draws an open card that still waits for its proof. */
  continue(): void {
    // The card reports a failed load when it opens.
    if (this.#factsNow()?.proven !== undefined) loadCard().catch(() => undefined);
    if (this.#isEmpty && this.#root.matches(':popover-open')) void this.#draw();
  }

  /** Draws the public log again in an open card. */
  async showLog(): Promise<void> {
    if (!this.#root.matches(':popover-open')) return;
    const { drawLogSteps } = await loadCard();
    const part = this.#root.querySelector<HTMLElement>('.log');
    if (part !== null) drawLogSteps(part, this.#factsNow()?.log);
  }

  async #draw(): Promise<void> {
    const facts = this.#factsNow();
    if (facts === undefined) return;
    this.#isEmpty = facts.proven === undefined;
    try {
      const { drawSealCard } = await loadCard();
      drawSealCard(this.#root, facts);
    } catch {
      // The next proof draws the card again.
      this.#isEmpty = true;
      this.#root.replaceChildren(
        element('p', { class: 'problem' }, 'The service did not send this part of the page yet.'),
      );
    }
  }

  #empty(): void {
    this.#isEmpty = true;
    this.#root.replaceChildren();
  }
}

/** Loads the code of the card. The browser keeps loaded code, so a second call sends no request. */
function loadCard() {
  return import('./seal_card.js');
}
