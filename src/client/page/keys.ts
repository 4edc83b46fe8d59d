export interface KeyActions {
  readonly search: HTMLInputElement;
  readonly grid: HTMLElement;
  /** Chooses the row so many below the chosen one, or above for a number below 0. */
  readonly move: (rows: number) => void;
  readonly pageRows: () => number;
  readonly moveResolution: (step: -1 | 1) => void;
  /** Shows the chosen asset. */
  readonly open: () => void;
  readonly back: () => void;
  /** The search was emptied. */
  readonly searched: () => void;
}

/** Works the page from the keyboard. */
export function listenToKeys(actions: KeyActions): void {
  const { search, grid, move, pageRows, moveResolution } = actions;
  const everywhere: Readonly<Record<string, () => void>> = {
    '/': () => search.focus(),
    '[': () => moveResolution(-1),
    ']': () => moveResolution(1),
    Escape: () => actions.back(),
  };
  const inList: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    PageDown: () => move(pageRows()),
    PageUp: () => move(-pageRows()),
    Enter: () => actions.open(),
  };
  const inGrid: Readonly<Record<string, () => void>> = {
    ...inList,
    Home: () => move(Number.NEGATIVE_INFINITY),
    End: () => move(Number.POSITIVE_INFINITY),
  };
  const inSearch: Readonly<Record<string, () => void>> = {
    ...inList,
    Escape() {
      search.value = '';
      actions.searched();
      grid.focus();
    },
  };
  document.addEventListener('keydown', (event) => {
    const { target, key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey) return;
    const isTyping = target instanceof HTMLInputElement;
    const action =
      target === search
        ? inSearch[key]
        : isTyping
          ? undefined
          : ((target === grid || target === document.body ? inGrid[key] : undefined) ?? everywhere[key]);
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}
