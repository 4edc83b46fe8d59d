type Child = Node | string;

/** Makes an element. Data from the service becomes text in the element, never markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Makes a list of names with their values. */
export function facts(entries: readonly (readonly [name: string, value: Child])[]): HTMLElement {
  return element(
    'dl',
    { class: 'facts' },
    ...entries.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]),
  );
}

/** Returns the element of the page with this ID. */
export function byId<E extends HTMLElement = HTMLElement>(id: string): E {
  return document.getElementById(id) as E;
}

/** Draws in the next animation frame. A hidden page has no frames, but its title is visible, so this function then draws immediately. */
export function drawWithFrame(draw: () => void): void {
  if (document.hidden) draw();
  else requestAnimationFrame(draw);
}
