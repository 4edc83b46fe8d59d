import { byId } from './elements.js';
import { followFiles } from './file_choice.js';
import { isQuorumLink, type LinkFragment, readFragment, readPlace, writePlace } from './fragment.js';
import { LivePage } from './live_page.js';
import { loadAgain } from './load_again.js';
import { keyTypeOf, PinnedSigners } from './pins.js';
import { reasonText } from './plain_reason.js';
import { StateBar } from './state_bar.js';
import { originStorage, tabStorage } from './storage.js';

/** The name under which this tab keeps the token. */
const TOKEN_NAME = 'tickseal.token';
/** The name under which this tab keeps the reason for a restart of the page. */
const REASON_NAME = 'tickseal.reason';
/** The name under which this tab keeps the remark about an opened link until the page has restarted. */
const REMARK_NAME = 'tickseal.remark';

const pins = new PinnedSigners(originStorage);
if (isQuorumLink(location.hash))
  import('./quorum_page.js').then(({ openQuorumPage }) => openQuorumPage(tabStorage, TOKEN_NAME), loadAgain);
else start();

/** Opens the page of the service that serves it. */
function start(): void {
  takeFragment();
  // If a link to the same page is opened in this tab, only the fragment changes.
  addEventListener('hashchange', () => {
    if (isQuorumLink(location.hash) || takeFragment()) location.reload();
  });
  for (const button of signOutButtons()) button.addEventListener('click', () => signOut());
  byId('login').addEventListener('submit', (event) => {
    event.preventDefault();
    const token = byId<HTMLInputElement>('token').value.trim();
    if (token === '') return;
    tabStorage.setItem(TOKEN_NAME, token);
    void open(token);
  });
  followFiles((text) => {
    document.querySelector('#login .problem')!.textContent = text;
    if (byId('login').hidden) new StateBar().showNotice({ tone: 'info', text });
  });
  const remark = take(REMARK_NAME);
  if (remark !== '') new StateBar().showNotice({ tone: 'info', text: remark });
  const known = tabStorage.getItem(TOKEN_NAME);
  if (known === null) ask();
  else void open(known);
}

/**
 * Moves the token and the signers out of the address. The place stays in the address. The tab keeps the remark about the link for
 * the restarted page.
 * @returns true if the address had a token or a signer
 */
function takeFragment(): boolean {
  const link = readFragment(location.hash);
  if (link.token === undefined && link.signers.length === 0 && link.streamSigner === undefined) return false;
  const place = writePlace(readPlace(location.hash), { signers: [], streamSigner: undefined });
  history.replaceState(null, '', location.pathname + place);
  tabStorage.setItem(REMARK_NAME, useLink(link));
  return true;
}

/** Uses a link unless it has a wrong key. @returns the remark for the reader; empty if there is no remark */
function useLink({ token, signers, streamSigner }: LinkFragment): string {
  const wrong = signers.find((signer) => keyTypeOf(signer) === undefined);
  if (wrong !== undefined) return `The link was not used: its signer ${wrong} is no key.`;
  const ofStreams = streamSigner ?? signers.find((signer) => keyTypeOf(signer) === 'evm');
  if (ofStreams !== undefined && keyTypeOf(ofStreams) !== 'evm')
    return `The link was not used: its stream_signer ${ofStreams} is no address.`;
  if (token !== undefined) tabStorage.setItem(TOKEN_NAME, token);
  // The key of streams is pinned first, because the pin of the EVM key counts for streams until they have their own pin.
  const named = [
    ...(ofStreams === undefined ? [] : [['stream', ofStreams] as const]),
    ...signers.map((signer) => [keyTypeOf(signer)!, signer] as const),
  ];
  const replaced = named.flatMap(([name, key]) => pins.pin(name, key, 'link') ?? []);
  const remarks = replaced.map(({ key, source }) => {
    const how = source === 'link' ? 'by another link' : source === 'reader' ? 'by you' : 'on first use';
    return `This link pins another key than before: ${key} was pinned ${how}.`;
  });
  return [...new Set(remarks)].join(' ');
}

async function open(token: string): Promise<void> {
  byId('login').hidden = true;
  document.querySelector('main')!.hidden = false;
  for (const button of signOutButtons()) button.hidden = false;
  document.querySelector<HTMLElement>('.search')!.hidden = false;
  try {
    await new LivePage({ token, pins }).run();
  } catch (error) {
    signOut(`The service refused the token: ${reasonText(error as Error)}.`);
  }
}

/** Deletes the token, and reloads the page so that no data of the old login remains. */
function signOut(reason = ''): void {
  tabStorage.removeItem(TOKEN_NAME);
  tabStorage.setItem(REASON_NAME, reason);
  location.reload();
}

function ask(): void {
  byId('login').hidden = false;
  document.querySelector('.login .problem')!.textContent = take(REASON_NAME);
  byId('token').focus();
}

/** Reads and removes a text that the page kept before its restart. */
function take(name: string): string {
  const text = tabStorage.getItem(name) ?? '';
  tabStorage.removeItem(name);
  return text;
}

/**
 * Finds the buttons that sign out. The page has a button at the top, and another in the card of the connection for narrow
 * screens.
 */
function signOutButtons(): readonly HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('.sign-out')];
}
