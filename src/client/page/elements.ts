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

/** Sets the text of an element. Skips an unchanged text, because each write makes the browser compute the layout again. */
export function setText(node: Element, text: string): void {
  if (node.textContent !== text) node.textContent = text;
}

export function setAttribute(node: Element, name: string, value: string): void {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/**
 * Returns a function that draws in the next animation frame. Several calls before that frame cause a single drawing. A hidden page
 * has no frames, but its title is visible, so the function then draws immediately.
 */
export function oncePerFrame(draw: () => void): () => void {
  let isDue = false;
  return () => {
    if (document.hidden) draw();
    else if (!isDue) {
      isDue = true;
      requestAnimationFrame(() => {
        isDue = false;
        draw();
      });
    }
  };
}
