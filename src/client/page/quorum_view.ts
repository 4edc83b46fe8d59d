import { html, nothing } from 'lit-html';
import { hexText, quorumRing, saveFile, type View } from './parts.js';
import { hashWith } from './place.js';
import { exactPrice } from './price_text.js';
import { addOperator, hostOf, type LinkOperator, type LinkQuorum } from './quorum_link.js';
import { type Count, medianOf, reasonOf, voteText } from './quorum_votes.js';

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
    const title = urls.map(hostOf).join(', ');
    return html`<label>${title}<div class="field"><input type="password" autocomplete="off" spellcheck="false" aria-label="Token of ${title}"></div></label>`;
  });
  return html`<main id="quorum"><form class="login" @submit=${submit}><h1>Prices on which ${operators.length} operators agree</h1>
<p>Each operator gives its own access token, and this page sends it to that operator only.</p>${fields}
<div class="field"><button type="submit">Open</button></div>
<p class="soft">An operator without a token does not count. The tokens stay in this tab: closing the tab forgets them.</p></form></main>`;
}

/** Draws the card with the form for a further operator. @param urls the addresses of an operator, and its keys */
export function operatorCard(urls: readonly string[], signers: readonly string[]): View {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.target as HTMLFormElement);
    const [url, signer] = [String(fields.get('url')), String(fields.get('signer'))];
    location.hash = addOperator(location.hash, { urls, signers }, url, signer);
  };
  return html`<div id="operator" class="card" popover role="dialog" aria-label="Add an operator"><h2>Add an operator</h2>
<p>The page then shows a price only when the operators agree, with a ring that has a part for each of them. The operator of this page must name the other in listen.page_operators.</p>
<form @submit=${submit}><label>Address <input name="url" type="url" required placeholder="https://b.example.com"></label>
<label>Key of its streams <input name="signer" required pattern="0x[0-9a-fA-F]{40}" placeholder="0x…" autocomplete="off" spellcheck="false"></label>
<button type="submit">Compare</button></form></div>`;
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
export function ringView(count: Count | undefined, { operators, maxAgeMs }: LinkQuorum): View {
  const verdicts = operators.map((_, i) => count?.operators[i]?.verdict ?? 'silent');
  const agreeing = verdicts.filter((verdict) => verdict === 'agrees').length;
  const isKnown = medianOf(count, maxAgeMs) !== undefined;
  const text = isKnown ? `${agreeing} of ${operators.length}` : reasonOf(count);
  return html`<span class="sealed" title=${isKnown ? `${text} operators agree` : `no price: ${text}`}>${quorumRing(verdicts)}<span class="seal ring-text">${text}</span></span>`;
}

export interface QuorumDetail {
  readonly quorum: LinkQuorum;
  /** The chosen symbol; `undefined` before the first answer. */
  readonly symbol: string | undefined;
  readonly count: Count | undefined;
  /** The reasons why operators do not list their assets, by the operator's name. */
  readonly problems: ReadonlyMap<string, string>;
  /** The texts of evidence files against operators, by the operator's name. */
  readonly evidence: ReadonlyMap<string, string>;
}

/** Draws the chosen symbol with each operator's price and state, and the rules. */
export function quorumDetail({ quorum, symbol, count, problems, evidence }: QuorumDetail): View {
  const { operators, maxSpreadPercent = 1, maxAgeMs } = quorum;
  const price = medianOf(count, maxAgeMs);
  const items = operators.map(({ name, signers }, i) => {
    const vote = count?.operators[i];
    const proof = evidence.get(name);
    const text = vote === undefined ? (problems.get(name) ?? 'no price yet') : voteText(vote);
    const save = () => saveFile('tickseal-evidence.json', proof!);
    return html`<li data-verdict=${proof === undefined ? (vote?.verdict ?? 'silent') : 'equivocates'}><i class="dot"></i><span>${name}</span><span class="price number">${vote?.price === undefined ? '—' : exactPrice(vote.price)}</span><span class="state">${text}</span>${hexText(vote?.signer ?? signers[0]!)}${proof === undefined ? nothing : html`<button type="button" class="plain-button" @click=${save}>Save the evidence</button>`}</li>`;
  });
  return html`<section class="detail" aria-label="The chosen asset"><header class="head"><a id="back" href=${hashWith({ asset: undefined }, location.hash)} aria-label="Back to the assets">←</a><h1 id="symbol">${symbol}</h1>
<p class="now"><span id="price" class="number">${price === undefined ? '—' : exactPrice(price)}</span></p>${ringView(count, quorum)}</header>
<ul class="votes">${items}</ul>
<p class="soft">A price is the median of at least ${thresholdOf(quorum)} of ${operators.length} operators that agree: within ${maxSpreadPercent} % of each other, and at most ${maxAgeMs / 1_000} s old. Your browser checks each operator's signature against the key in your link. Each part of a ring is an operator; a public log belongs to one service, so the page of each operator shows it.</p>
<button type="button" class="plain-button" popovertarget="operator">Add an operator</button></section>`;
}
