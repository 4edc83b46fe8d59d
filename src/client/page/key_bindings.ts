import type { TaxonomyAsset } from '../index.js';
import type { AssetList } from './asset_list.js';

export interface KeyActions {
  readonly list: AssetList;
  readonly chosen: () => TaxonomyAsset | undefined;
  readonly moveResolution: (step: -1 | 1) => void;
  /** @returns true if the page went back */
  readonly back: () => boolean;
}

/** Handles the keys of the page. */
export function listenToKeys({ list, chosen, moveResolution, back }: KeyActions): void {
  const move = (rows: number) => list.move(rows);
  const element = (id: string) => document.getElementById(id);
  // An action returns `false` if it has nothing to do.
  const everywhere: Readonly<Record<string, () => unknown>> = {
    '/': () => element('search')?.focus(),
    '[': () => moveResolution(-1),
    ']': () => moveResolution(1),
    f: () => list.star(chosen()),
    Escape: back,
  };
  const inList: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    PageDown: () => move(list.pageRows),
    PageUp: () => move(-list.pageRows),
    // Shows the chosen asset, or the first result of the search.
    Enter: () => move(0),
  };
  const inIntervals: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => moveResolution(-1),
    ArrowUp: () => moveResolution(-1),
    ArrowRight: () => moveResolution(1),
    ArrowDown: () => moveResolution(1),
  };
  const inGrid: Readonly<Record<string, () => void>> = {
    ...inList,
    Home: () => move(Number.NEGATIVE_INFINITY),
    End: () => move(Number.POSITIVE_INFINITY),
  };
  const inSearch: Readonly<Record<string, () => void>> = {
    ...inList,
    Escape() {
      (element('search') as HTMLInputElement).value = '';
      list.search('');
      element('grid')?.focus();
    },
  };
  const placeOf = (target: Element) => {
    if (target === element('grid') || target === document.body) return inGrid;
    return target.closest('.intervals') === null ? undefined : inIntervals;
  };
  document.addEventListener('keydown', (event) => {
    const { target, key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey) return;
    // The browser closes the popover itself.
    if (key === 'Escape' && document.querySelector(':popover-open') !== null) return;
    const isTyping = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
    const action =
      target === element('search')
        ? inSearch[key]
        : isTyping
          ? undefined
          : (placeOf(target as Element)?.[key] ?? everywhere[key]);
    if (action !== undefined && action() !== false) event.preventDefault();
  });
}
