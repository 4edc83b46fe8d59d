import { element } from './elements.js';

/** Shows one language of each sample, with a button for each language. A choice applies to all samples of the page. */
export function addTabs(): void {
  const samples = [...document.querySelectorAll('.samples')];
  const show = (language: string) => {
    for (const sample of samples)
      for (const part of sample.querySelectorAll<HTMLElement>(':scope > [data-language]'))
        part.hidden = part.dataset['language'] !== language;
    for (const button of document.querySelectorAll('.languages button'))
      button.setAttribute('aria-pressed', String(button.textContent === language));
  };
  for (const sample of samples) {
    const names = [...sample.querySelectorAll(':scope > [data-language] > b')].map((name) => {
      name.remove();
      return name.textContent ?? '';
    });
    const buttons = names.map((name) => {
      const button = element('button', { type: 'button' }, name);
      button.addEventListener('click', () => keepPlace(button, () => show(name)));
      return button;
    });
    const bar = element('div', { class: 'languages', role: 'group', 'aria-label': 'Language of the sample' });
    bar.append(...buttons);
    sample.prepend(bar);
  }
  show('curl');
}

/** Scrolls so that an element stays where it is while the page above it changes its height. */
function keepPlace(anchor: Element, change: () => void): void {
  const before = anchor.getBoundingClientRect().top;
  change();
  scrollBy(0, anchor.getBoundingClientRect().top - before);
}
