const SHOWN_MS = 1_500;

/** Makes an element. Data from the service becomes text in the element, never markup. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Makes a button that copies a text and confirms this. */
export function copyButton(name: string, textOf: () => string): HTMLButtonElement {
  const button = element('button', { type: 'button' }, name);
  const show = (text: string) => {
    button.textContent = text;
    setTimeout(() => {
      button.textContent = name;
    }, SHOWN_MS);
  };
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(textOf());
      show('Copied');
    } catch {
      // Browsers have no clipboard for a page that comes over plain HTTP from another machine.
      show('The browser refused');
    }
  });
  return button;
}
