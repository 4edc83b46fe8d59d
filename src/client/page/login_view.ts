import { html } from 'lit-html';
import type { View } from './parts.js';

/** Draws the form for the access token. @param problem the reason why the reader has to enter a token again */
export function loginView(problem: string, onToken: (token: string) => void): View {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const token = (event.target as HTMLFormElement).querySelector('input')!.value.trim();
    if (token !== '') onToken(token);
  };
  return html`<div role="main" id="login" class="login"><form @submit=${submit}>
<h1>Live prices, verified in your browser</h1>
<p>Each price on this page comes with the service's signature, and this browser checks it before it shows the price.</p>
<label for="token">Access token</label>
<div class="field"><input id="token" type="password" autocomplete="off" spellcheck="false" required><button type="submit">Open</button></div>
<p class="problem" role="alert">${problem}</p>
<p class="soft">The token stays in this tab: closing the tab forgets it. <a href="/docs/">Documentation</a></p>
</form></div>`;
}
