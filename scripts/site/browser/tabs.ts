import { html, render } from 'lit-html';

/** Shows one language of each sample, with a button for each language. A choice applies to all samples of the page. */
export function addTabs(): void {
  const samples = [...document.querySelectorAll<HTMLElement>('.samples')].map((sample) => {
    const parts = [...sample.querySelectorAll<HTMLElement>(':scope > [data-language]')];
    for (const part of parts) part.querySelector('b')!.remove();
    return { sample, parts, first: sample.firstChild };
  });
  const show = (language: string | undefined) => {
    for (const { sample, parts, first } of samples) {
      const buttons = parts.map((part) => {
        const name = part.dataset['language'];
        part.hidden = name !== language;
        const choose = ({ currentTarget }: Event) => keepPlace(currentTarget as Element, () => show(name));
        return html`<button type="button" aria-pressed="${name === language}" @click=${choose}>${name}</button>`;
      });
      const bar = html`<div class="languages" role="group" aria-label="Language of the sample">${buttons}</div>`;
      render(bar, sample, { renderBefore: first });
    }
  };
  show('curl');
}

/** Scrolls so that an element stays where it is while the page above it changes its height. */
function keepPlace(anchor: Element, change: () => void): void {
  const before = anchor.getBoundingClientRect().top;
  change();
  scrollBy(0, anchor.getBoundingClientRect().top - before);
}
