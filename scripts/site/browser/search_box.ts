import MiniSearch, { type AsPlainObject } from 'minisearch';
import { SEARCH_OPTIONS, type SearchEntry } from '../search_options.js';
import { element } from './elements.js';

const RESULTS_MAX = 20;

/** Adds the search to the bar of the page. The index is loaded when the field gets the focus for the first time. */
export function addSearch(): void {
  const field = element('input', {
    type: 'search',
    placeholder: 'Search',
    'aria-label': 'Search the documentation',
    autocomplete: 'off',
  });
  const list = element('ul', { class: 'results', 'aria-label': 'Results', hidden: '' });
  const box = document.querySelector('#search')!;
  box.append(field, list);
  let index: Promise<MiniSearch<SearchEntry>> | undefined;
  const load = () => {
    index ??= loadIndex();
    return index;
  };
  field.addEventListener('focus', () => void load());
  field.addEventListener('input', async () => {
    const found = await load();
    showResults(list, field.value.trim(), found);
  });
  box.addEventListener('keydown', (event) => moveFocus(event as KeyboardEvent, field, list));
  document.addEventListener('click', ({ target }) => {
    if (!box.contains(target as Node)) list.hidden = true;
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || (event.target as Element).closest('input, textarea') !== null) return;
    event.preventDefault();
    field.focus();
  });
}

/** Loads the index as a script, because a page that was opened as a file may not fetch it. */
async function loadIndex(): Promise<MiniSearch<SearchEntry>> {
  const script = element('script', { src: 'search_index.js' });
  await new Promise((resolve, reject) => {
    script.addEventListener('load', resolve);
    script.addEventListener('error', () => reject(new Error('the index of the search could not be loaded')));
    document.head.append(script);
  });
  const { ticksealIndex } = globalThis as unknown as { readonly ticksealIndex: AsPlainObject };
  return MiniSearch.loadJS<SearchEntry>(ticksealIndex, SEARCH_OPTIONS);
}

function showResults(list: HTMLElement, text: string, index: MiniSearch<SearchEntry>): void {
  list.hidden = text === '';
  const found = index.search(text).slice(0, RESULTS_MAX) as unknown as SearchEntry[];
  list.replaceChildren(
    ...(found.length === 0
      ? [element('li', { class: 'soft' }, 'Nothing found')]
      : found.map(({ id, title, page, excerpt }) => {
          const link = element('a', { href: id });
          const place = title === page ? '' : ` ${page}`;
          link.append(element('b', {}, title), element('i', {}, place), element('span', {}, excerpt));
          link.addEventListener('click', () => {
            list.hidden = true;
          });
          const item = element('li', {});
          item.append(link);
          return item;
        })),
  );
}

/** Moves the focus between the field and the results with the arrow keys. Escape closes the results. */
function moveFocus(event: KeyboardEvent, field: HTMLInputElement, list: HTMLElement): void {
  const stops = [field, ...list.querySelectorAll('a')];
  const at = stops.indexOf(document.activeElement as HTMLInputElement);
  if (event.key === 'Escape') {
    list.hidden = true;
    field.focus();
  } else if (event.key === 'Enter' && at === 0) stops[1]?.click();
  else if (event.key === 'ArrowDown') stops[Math.min(at + 1, stops.length - 1)]?.focus();
  else if (event.key === 'ArrowUp') stops[Math.max(at - 1, 0)]?.focus();
  else return;
  event.preventDefault();
}
