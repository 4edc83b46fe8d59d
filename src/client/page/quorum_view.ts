import { html, nothing } from 'lit-html';
import type { OperatorVote } from '../index.js';
import { copyButton, hexText, quorumRing, type View } from './parts.js';
import { exactPrice } from './price_text.js';
import { type OperatorState, type QuorumRow, voteText } from './quorum_board.js';
import { hostsOf, type LinkOperator, type LinkQuorum } from './quorum_link.js';

/** Draws the form that asks for a token of each operator. */
export function tokenForm(
  operators: readonly LinkOperator[],
  onTokens: (tokens: readonly string[]) => void,
): View {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const inputs = (event.target as HTMLFormElement).querySelectorAll('input');
    onTokens([...inputs].map(({ value }) => value.trim()));
  };
  const fields = operators.map(({ urls }) => {
    const title = hostsOf(urls).join(', ');
    return html`<label>${title}<div class="field"><input type="password" autocomplete="off" spellcheck="false" aria-label="Token of ${title}"></div></label>`;
  });
  return html`<main id="quorum"><form class="login" @submit=${submit}><h1>Prices on which ${operators.length} operators agree</h1>
<p>Each operator gives its own access token, and this page sends it to that operator only.</p>${fields}
<div class="field"><button type="submit">Open</button></div>
<p class="soft">An operator without a token does not count. The tokens stay in this tab: closing the tab forgets them.</p></form></main>`;
}

/** Draws the reason why a link cannot be used. */
export function problemView(text: string): View {
  return html`<main id="quorum"><div class="login"><h1>The operators cannot be compared</h1><p class="problem" role="alert">${text}</p></div></main>`;
}

/** Returns the number of operators that must agree. */
export function thresholdOf({ operators, threshold }: LinkQuorum): number {
  return threshold ?? Math.floor(operators.length / 2) + 1;
}

/** Draws the ring of a symbol, with the number of operators that agree or the reason why there is no price. */
export function ringView({ symbol, price, agreeing, votes, reason }: QuorumRow, count: number): View {
  const text = price === undefined ? reason : `${agreeing} of ${count}`;
  const name = price === undefined ? `no price: ${reason}` : `${text} operators agree`;
  const verdicts = Array.from({ length: count }, (_, i) => votes[i]?.verdict ?? 'silent');
  return html`${quorumRing(verdicts)}<span class="seal ring-text" title="${symbol}: ${name}">${text}</span>`;
}

export interface QuorumDetail {
  readonly quorum: LinkQuorum;
  /** The chosen symbol; `undefined` before the first answer. */
  readonly row: QuorumRow | undefined;
  readonly operators: readonly OperatorState[];
  readonly onBack: () => void;
}

/** Draws the chosen symbol with the operators' prices, the rules and the state of each operator. */
export function quorumDetail({ quorum, row, operators, onBack }: QuorumDetail): View {
  const count = quorum.operators.length;
  const { maxSpreadPercent = 1, maxAgeMs } = quorum;
  const head =
    row === undefined
      ? nothing
      : html`<header class="head"><button type="button" id="back" aria-label="Back to the assets" @click=${onBack}>←</button><h1 id="symbol">${row.symbol}</h1>
<p class="now"><span id="price" class="number">${row.price === undefined ? '—' : exactPrice(row.price)}</span></p><p class="sealed">${ringView(row, count)}</p></header>
<ul class="votes">${row.votes.map(voteItem)}</ul>`;
  return html`<section class="detail" aria-label="The chosen asset">${head}
<h2>Operators</h2><ul class="operators">${operators.map((state, i) => operatorItem(state, quorum.operators[i]!))}</ul>
<p class="soft">A price is the median of at least ${thresholdOf(quorum)} of ${count} operators that agree: within ${maxSpreadPercent} % of each other, and at most ${maxAgeMs / 1_000} s old. Your browser checks each operator's signature against the key in your link. Each part of a ring is an operator; a public log belongs to one service, so the page of each operator shows it.</p>
<button type="button" class="plain-button" popovertarget="operator">Add an operator</button></section>`;
}

function operatorItem({ name, verdict, text, evidence }: OperatorState, { signers }: LinkOperator): View {
  return html`<li data-verdict=${verdict}><i class="dot"></i><span>${name}</span><span class="state">${text}</span>${signers.map(hexText)}${evidence === undefined ? nothing : copyButton('Copy evidence', () => evidence)}</li>`;
}

function voteItem(vote: OperatorVote): View {
  const { operator, verdict, price, signer } = vote;
  return html`<li data-verdict=${verdict}><i class="dot"></i><span>${operator}</span><span class="price number">${price === undefined ? '—' : exactPrice(price)}</span><span class="state">${voteText(vote)}</span>${signer === undefined ? nothing : hexText(signer)}</li>`;
}
