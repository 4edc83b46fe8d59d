import { html, render } from 'lit-html';
import { DEFAULT_SIGNATURE_TYPE } from '../../wire/signatures.js';
import {
  createClient,
  createStreamClient,
  EquivocationError,
  type QuorumClient,
  type QuorumStream,
  type TaxonomyAsset,
} from '../index.js';
import { AssetList, type ListedValues } from './asset_list.js';
import { barView, noticeView } from './bar_view.js';
import { pause } from './one_at_a_time.js';
import type { PinStorage } from './pins.js';
import { assetAt, readPlace } from './place.js';
import { reasonText } from './plain_reason.js';
import { type LinkOperator, type LinkQuorum, readQuorumLink, tokenName } from './quorum_link.js';
import { operatorCard, problemView, quorumDetail, ringView, thresholdOf, tokenForm } from './quorum_view.js';
import { type Count, medianOf } from './quorum_votes.js';

/** The channel with two frames a second, because people cannot read faster. */
const CHANNEL = '500ms';
const DRAW_MS = 200;
const ASK_AGAIN_MS = 5_000;

export interface QuorumPageOptions {
  readonly root: HTMLElement;
  /** The address of the module of the worker that verifies payloads. */
  readonly worker: string;
  readonly storage: PinStorage;
  /** The name under which the tab keeps the token of the service that serves the page. */
  readonly ownToken: string;
}

/**
 * Opens the page of several operators. The tab keeps the token of each operator under the operator's address, and the page sends
 * the token to this address only.
 */
export function openQuorumPage(options: QuorumPageOptions): void {
  const { root } = options;
  const opened = linkText();
  addEventListener('hashchange', () => linkText() !== opened && location.reload());
  try {
    const quorum = readQuorumLink(location.hash);
    // Checks the rules, and rejects operators that share a key. This client opens no connection.
    createClient({ quorum });
    openWithTokens(options, quorum);
  } catch (error) {
    render(html`${barView({})}${problemView(`The link was not used: ${(error as Error).message}.`)}`, root);
  }
}

/** Returns the part of the address with the operators and their keys. */
function linkText(): string {
  const parameters = new URLSearchParams(location.hash.slice(1));
  parameters.delete('asset');
  return String(parameters);
}

/** Opens the page with the tokens that the tab has, or asks for tokens. */
function openWithTokens({ root, worker, storage, ownToken }: QuorumPageOptions, quorum: LinkQuorum): void {
  const nameOf = ({ urls }: LinkOperator) => (urls.join() === location.origin ? ownToken : tokenName(urls));
  const open = () => {
    const operators = quorum.operators.map((operator) => {
      const token = storage.getItem(nameOf(operator)) ?? '';
      return { ...operator, ...(token !== '' && { token }) };
    });
    const signOut = () => {
      for (const operator of operators) storage.removeItem(nameOf(operator));
      location.reload();
    };
    new QuorumPage(root, worker, { ...quorum, operators }, signOut).run();
  };
  const take = (tokens: readonly string[]) => {
    for (const [i, operator] of quorum.operators.entries())
      if (tokens[i] !== '') storage.setItem(nameOf(operator), tokens[i]!);
    open();
  };
  if (quorum.operators.some((operator) => storage.getItem(nameOf(operator)) !== null)) open();
  else {
    render(html`${barView({})}${tokenForm(quorum.operators, take)}`, root);
    root.querySelector('input')!.focus();
  }
}

/** The page with the prices: the same list as for one service, with a ring for each asset. */
class QuorumPage implements ListedValues {
  readonly #root: HTMLElement;
  readonly #quorum: LinkQuorum;
  readonly #signOut: () => void;
  readonly #client: QuorumClient;
  readonly #stream: QuorumStream;
  readonly #list: AssetList;
  /** The newest count of each symbol. */
  readonly #counts = new Map<string, Count>();
  readonly #evidence = new Map<string, string>();
  readonly #problems = new Map<string, string>();
  /** The operators that have each symbol. */
  readonly #owners = new Map<string, Set<string>>();
  assets: readonly TaxonomyAsset[] = [];
  #problem = '';

  constructor(root: HTMLElement, worker: string, quorum: LinkQuorum, signOut: () => void) {
    this.#root = root;
    this.#quorum = quorum;
    this.#signOut = signOut;
    const { operators } = quorum;
    this.#client = createClient({ quorum, worker });
    this.#client.on('noQuorum', (event) => this.#counts.set(event.symbol, event));
    this.#client.on('error', ({ operator, error }) => {
      if (error instanceof EquivocationError) this.#evidence.set(operator, error.evidence);
    });
    const history = createStreamClient(operators.find(({ token }) => token !== undefined) ?? operators[0]!);
    this.#list = new AssetList({
      values: this,
      sealOf: ({ symbol }) => ringView(this.#counts.get(symbol), quorum),
      get: (path) => history.get(path),
      nowMs: () => Date.now(),
      onSeen: () => this.#streamSeenSymbols(),
      draw: () => this.#draw(),
    });
    this.#stream = this.#client.stream([], { channel: CHANNEL });
  }

  run(): void {
    void this.#read();
    for (const operator of this.#quorum.operators) void this.#readSymbols(operator);
    addEventListener('hashchange', () => this.#streamSeenSymbols());
    setInterval(() => this.#draw(), DRAW_MS);
    this.#draw();
  }

  quote({ symbol }: TaxonomyAsset) {
    const price = medianOf(this.#counts.get(symbol), this.#quorum.maxAgeMs);
    return price === undefined ? undefined : { price, status: undefined };
  }

  seal(asset: TaxonomyAsset): string {
    return this.quote(asset) === undefined ? 'waiting' : 'verified';
  }

  async #read(): Promise<void> {
    try {
      for await (const tick of this.#stream) this.#counts.set(tick.symbol, tick);
    } catch (error) {
      this.#problem = `No further prices come: ${reasonText(error as Error)}.`;
    }
  }

  /** Requests an operator's symbols until the operator answers. */
  async #readSymbols(operator: LinkOperator): Promise<void> {
    const { name } = operator;
    const client = createStreamClient(operator);
    for (;;) {
      try {
        for (const symbol of await client.assets())
          this.#owners.set(symbol, (this.#owners.get(symbol) ?? new Set()).add(name));
        this.#problems.delete(name);
        return this.#listSharedSymbols();
      } catch (error) {
        this.#problems.set(name, `does not list its assets: ${reasonText(error as Error)}`);
        await pause(ASK_AGAIN_MS);
      }
    }
  }

  /** Lists the symbols that enough operators have. */
  #listSharedSymbols(): void {
    const threshold = thresholdOf(this.#quorum);
    const symbols = [...this.#owners].filter(([, owners]) => owners.size >= threshold).map(([one]) => one);
    this.assets = symbols.sort().map((symbol) => ({
      id: 0,
      symbol,
      signatureType: DEFAULT_SIGNATURE_TYPE,
      aggregation: '',
      calendar: '',
    }));
    this.#streamSeenSymbols();
  }

  get #chosen(): TaxonomyAsset | undefined {
    return assetAt(this.assets, readPlace(location.hash));
  }

  /** Streams the symbols that the reader sees. */
  #streamSeenSymbols(): void {
    const chosen = this.#chosen;
    const wanted = [
      ...new Set([...this.#list.seen, ...(chosen ? [chosen] : [])].map(({ symbol }) => symbol)),
    ];
    const { symbols } = this.#stream;
    const removed = symbols.filter((symbol) => !wanted.includes(symbol));
    this.#stream.remove(removed);
    this.#stream.add(wanted.filter((symbol) => !symbols.includes(symbol)));
    for (const symbol of removed) this.#counts.delete(symbol);
    this.#draw();
  }

  #draw(): void {
    const [quorum, chosen] = [this.#quorum, this.#chosen];
    const { symbol } = chosen ?? {};
    const threshold = thresholdOf(quorum);
    const told =
      this.assets.length > 0
        ? `${this.assets.length} assets of at least ${threshold} operators`
        : `No asset is listed yet: at least ${threshold} operators have to answer.`;
    const foot = html`<p class="foot soft"><span id="count" role="status">${told}</span></p>`;
    const notice = this.#problem === '' ? undefined : ({ tone: 'bad', text: this.#problem } as const);
    const bar = barView({ onSearch: (text) => this.#list.search(text), onSignOut: this.#signOut });
    const count = symbol === undefined ? undefined : this.#counts.get(symbol);
    const detail = { quorum, symbol, count, problems: this.#problems, evidence: this.#evidence };
    const [first] = quorum.operators as readonly [LinkOperator];
    render(
      html`${bar}${noticeView(notice)}<main id="quorum" class=${readPlace(location.hash).asset === undefined ? '' : 'detailed'}>${this.#list.view(chosen, foot)}${quorumDetail(detail)}</main>
${operatorCard(first.urls, first.signers)}`,
      this.#root,
    );
  }
}
