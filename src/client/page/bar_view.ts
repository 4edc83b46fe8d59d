import { html, nothing } from 'lit-html';
import { SIGNATURE_TYPES, SIGNATURES } from '../../wire/signatures.js';
import { type ConnectionLog, connectionState, gapText } from './connection_state.js';
import type { Notice } from './frame_fault.js';
import { facts, hexText, sign, type View } from './parts.js';
import { type Pin, type PinnedSigners, type PinSource, SOURCE_TEXTS } from './pins.js';
import { shortHex } from './price_text.js';

/** The contents of the bar. A part that is absent is not shown. */
export interface BarFacts {
  readonly simulation?: string | undefined;
  readonly onSearch?: (text: string) => void;
  readonly pins?: PinnedSigners;
  readonly connection?: BarConnection;
  readonly onSignOut?: () => void;
  /** True if the reader can sign in instead, because the page is open with the public token. */
  readonly isPublic?: boolean;
}

/** The connection, and the number of assets that the service sends. */
export interface BarConnection {
  readonly log: ConnectionLog;
  readonly subscribed: number;
}

const SIGNER_TEXTS: Readonly<Record<PinSource, string>> = {
  link: 'The link that opened this page named the key. Prices of any other key are not shown.',
  'first use':
    'This was the first key that this browser saw here, so the service vouched for itself. Compare it with the address that the operator publishes.',
  reader:
    'You pinned this key when the service changed to it. Compare it with the address that the operator publishes.',
};

/** Draws the bar at the top of the page, with the cards that it opens. */
export function barView({ simulation, onSearch, pins, connection, onSignOut, isPublic }: BarFacts): View {
  const signOut = isPublic ? 'Sign in' : 'Sign out';
  const search = (event: Event) => onSearch!((event.target as HTMLInputElement).value);
  return html`<header class="bar"><a class="brand" href="/">${sign('verified')}tickseal</a>
${simulation ? html`<span class="tag" id="simulation">${simulation}</span>` : nothing}
${
  onSearch === undefined
    ? nothing
    : html`<label class="search"><span class="unseen">Search assets</span>${sign('search')}<input id="search" type="search" placeholder="Search" autocomplete="off" spellcheck="false" maxlength="64" @input=${search}></label>`
}
<div class="states">${pins === undefined ? nothing : signerChip(pins)}${connection === undefined ? nothing : connectionChip(connection)}
${onSignOut === undefined ? nothing : html`<button type="button" class="chip plain sign-out" @click=${onSignOut}>${signOut}</button>`}</div></header>
${pins === undefined ? nothing : signerCard(pins)}${connection === undefined ? nothing : connectionCard(connection, onSignOut)}`;
}

/** Draws the banner of a notice. */
export function noticeView(notice: Notice | undefined): View {
  const { tone = '', text = '', action } = notice ?? {};
  return html`<div id="notice" role="alert" data-tone=${tone} ?hidden=${notice === undefined}><p>${text}</p>${
    action === undefined ? nothing : html`<button type="button" @click=${action.run}>${action.name}</button>`
  }</div>`;
}

function signerChip(pins: PinnedSigners): View {
  const stream = pins.get('stream');
  if (stream === undefined) return nothing;
  const tone = stream.source === 'first use' ? 'waiting' : 'good';
  return html`<button type="button" class="chip" id="signer-chip" popovertarget="signer" data-tone=${tone}>${sign('pin')}<span>${shortHex(stream.key)} ${SOURCE_TEXTS[stream.source]}</span></button>`;
}

function signerCard(pins: PinnedSigners): View {
  const stream = pins.get('stream');
  if (stream === undefined) return nothing;
  const aggregates = SIGNATURE_TYPES.map(
    (type) => [`${SIGNATURES[type].title} aggregates`, pins.get(type)] as const,
  );
  const same = aggregates.find(([, pin]) => pin?.key === stream.key);
  const entries: (readonly [string, Pin | undefined])[] = [
    [same === undefined ? 'Streams' : `Streams and ${same[0]}`, stream],
    ...aggregates.filter((one) => one !== same),
  ];
  const forget = () => {
    pins.forget();
    location.reload();
  };
  const rows = entries.flatMap(([name, pin]) =>
    pin === undefined ? [] : [[name, html`${hexText(pin.key)} ${SOURCE_TEXTS[pin.source]}`] as const],
  );
  return html`<div id="signer" class="card" popover><h2>Signer</h2><p>${SIGNER_TEXTS[stream.source]}</p>${facts(rows)}
<button type="button" class="plain-button" @click=${forget}>Forget the pinned keys</button></div>`;
}

function connectionChip({ log, subscribed }: BarConnection): View {
  const { tone, text } = connectionState(log, subscribed, performance.now());
  return html`<button type="button" class="chip" id="connection-chip" popovertarget="connection" data-tone=${tone}><i class="dot"></i><span role="status" .textContent=${text}></span></button>`;
}

function connectionCard({ log, subscribed }: BarConnection, onSignOut?: () => void): View {
  const { lastGap, downReason, isUp } = log;
  const rows = [
    ['State', connectionState(log, subscribed, performance.now()).text],
    ...(downReason === undefined || isUp ? [] : [['Reason', downReason] as const]),
    ['Verified frames', String(log.verified)],
    ['Failed frames', String(log.failed)],
    ['Gaps', lastGap ? `${log.gaps}, the last one ${gapText(lastGap)}` : 'none'],
  ] as const;
  return html`<div id="connection" class="card" popover><h2>Connection</h2>${facts(rows)}
<button type="button" class="plain-button sign-out" @click=${onSignOut}>Sign out</button></div>`;
}
