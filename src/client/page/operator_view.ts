import { html } from 'lit-html';
import type { View } from './parts.js';

/** Draws the card with the form for a further operator. @param onAdd called with the operator's address and the key of its streams */
export function operatorCard(onAdd: (url: string, signer: string) => void): View {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.target as HTMLFormElement);
    onAdd(String(fields.get('url')), String(fields.get('signer')));
  };
  return html`<div id="operator" class="card" popover role="dialog" aria-label="Add an operator"><h2>Add an operator</h2>
<p>The page then shows a price only when the operators agree, with a ring that has a part for each of them. The operator of this page must name the other in listen.page_operators.</p>
<form class="stacked" @submit=${submit}><label>Address <input name="url" type="url" required placeholder="https://b.example.com"></label>
<label>Key of its streams <input name="signer" required pattern="0x[0-9a-fA-F]{40}" placeholder="0x…" autocomplete="off" spellcheck="false"></label>
<button type="submit">Compare</button></form></div>`;
}
