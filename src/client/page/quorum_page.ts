import { html, render } from 'lit-html';
import {
  createClient,
  createStreamClient,
  EquivocationError,
  type QuorumClient,
  type QuorumStream,
  RefusedError,
  type TaxonomyAsset,
} from '../index.js';
import { AssetList, type ListedValues } from './asset_list.js';
import { barView, noticeView } from './bar_view.js';
import { assetKey, Board, type Quote } from './board.js';
import { listenToKeys } from './key_bindings.js';
import { pause } from './one_at_a_time.js';
import { operatorCard } from './operator_view.js';
import type { PinStorage } from './pins.js';
import { reasonText } from './plain_reason.js';
import { QuorumBoard } from './quorum_board.js';
import { addOperator, type LinkOperator, type LinkQuorum, readQuorumLink, tokenName } from './quorum_link.js';
import { problemView, quorumDetail, ringView, thresholdOf, tokenForm } from './quorum_view.js';

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
  const show = (problem: string) => {
    render(html`${barView({})}${problemView(problem)}`, root);
  };
  addEventListener('hashchange', () => location.reload());
  const link = readQuorumLink(location.hash);
  if (!link.ok) show(link.reason);
  else
    try {
      // Checks the rules, and rejects operators that share a key. This client opens no connection.
      createClient({ quorum: link.quorum });
      openWithTokens(options, link.quorum);
    } catch (error) {
      show(`The link was not used: ${(error as Error).message}.`);
    }
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
  readonly #board: QuorumBoard;
  readonly #list: AssetList;
  readonly #medians = new Board();
  /** The operators that have each symbol. */
  readonly #owners = new Map<string, Set<string>>();
  assets: readonly TaxonomyAsset[] = [];
  #chosen: TaxonomyAsset | undefined;
  #wanted: readonly string[] = [];
  #isDetailed = false;
  #problem = '';

  constructor(root: HTMLElement, worker: string, quorum: LinkQuorum, signOut: () => void) {
    this.#root = root;
    this.#quorum = quorum;
    this.#signOut = signOut;
    const { operators, maxAgeMs } = quorum;
    const names = operators.map(({ name }) => name);
    this.#board = new QuorumBoard(names, maxAgeMs);
    this.#client = createClient({ quorum, worker });
    this.#client.on('noQuorum', (event) => this.#board.take(event));
    this.#client.on('error', ({ operator, error }) => {
      if (error instanceof EquivocationError) this.#board.accuse(operator, error);
    });
    const blocked = new Set<string>();
    addEventListener('securitypolicyviolation', ({ blockedURI }) => {
      for (const { name, urls } of operators) {
        for (const url of urls) if (isAt(blockedURI, url)) blocked.add(url);
        if (urls.every((url) => blocked.has(url))) this.#board.block(name);
      }
    });
    const history = createStreamClient(operators.find(({ token }) => token !== undefined) ?? operators[0]!);
    this.#list = new AssetList({
      values: this,
      sealOf: ({ symbol }) => ringView(this.#board.row(symbol), operators.length),
      get: (path) => history.get(path),
      nowMs: () => Date.now(),
      onChoose: (asset) => {
        this.#chosen = asset;
        this.#isDetailed = true;
        this.#streamSeenSymbols();
      },
      onSeal: () => undefined,
      onSeen: () => this.#streamSeenSymbols(),
      draw: () => this.#draw(),
    });
    this.#stream = this.#client.stream([], { channel: CHANNEL });
  }

  run(): void {
    void this.#read();
    for (const operator of this.#quorum.operators) void this.#readSymbols(operator);
    listenToKeys({
      list: this.#list,
      chosen: () => this.#chosen,
      moveResolution: () => undefined,
      back: () => this.#showList(),
    });
    setInterval(() => this.#draw(), DRAW_MS);
    this.#draw();
  }

  quote(asset: TaxonomyAsset): Quote | undefined {
    return this.#board.row(asset.symbol).price === undefined ? undefined : this.#medians.quote(asset);
  }

  seal({ symbol }: TaxonomyAsset): string {
    return this.#board.row(symbol).price === undefined ? 'waiting' : 'verified';
  }

  async #read(): Promise<void> {
    try {
      for await (const tick of this.#stream) {
        this.#board.take(tick);
        const { price, timestampNs, ageMs } = tick;
        const symbol = assetKey({ symbol: tick.symbol, signatureType: 'evm' });
        const values = { symbol, price, timestampNs, ageMs, status: undefined, attributes: {} };
        this.#medians.apply(values, performance.now());
      }
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
        this.#board.noteAnswer(name);
        return this.#listSharedSymbols();
      } catch (error) {
        const verdict = error instanceof RefusedError ? 'refused' : 'down';
        this.#board.noteAnswer(name, verdict, reasonText(error as Error));
        await pause(ASK_AGAIN_MS);
      }
    }
  }

  /** Lists the symbols that enough operators have. */
  #listSharedSymbols(): void {
    const threshold = thresholdOf(this.#quorum);
    const symbols = [...this.#owners].filter(([, owners]) => owners.size >= threshold).map(([one]) => one);
    this.assets = symbols
      .sort()
      .map((symbol) => ({ id: 0, symbol, signatureType: 'evm', aggregation: '', calendar: '' }));
    const [first] = this.assets;
    if (this.#chosen === undefined && first !== undefined) {
      this.#chosen = first;
      this.#list.mark(first);
    }
    this.#list.refresh();
    this.#streamSeenSymbols();
  }

  /** Streams the symbols that the reader sees. */
  #streamSeenSymbols(): void {
    const symbols = [...this.#list.seen, ...(this.#chosen === undefined ? [] : [this.#chosen])];
    const wanted = [...new Set(symbols.map(({ symbol }) => symbol))];
    const removed = this.#wanted.filter((symbol) => !wanted.includes(symbol));
    const added = wanted.filter((symbol) => !this.#wanted.includes(symbol));
    if (removed.length > 0) this.#stream.remove(removed);
    if (added.length > 0) this.#stream.add(added);
    for (const symbol of removed) this.#board.forget(symbol);
    this.#wanted = wanted;
  }

  /** @returns true if a narrow screen showed the asset */
  #showList(): boolean {
    const wasDetailed = this.#isDetailed;
    this.#isDetailed = false;
    this.#draw();
    return wasDetailed;
  }

  #draw(): void {
    this.#list.read([]);
    const quorum = this.#quorum;
    const row = this.#chosen && this.#board.row(this.#chosen.symbol);
    const operators = this.#board.operators();
    const empty =
      this.assets.length > 0
        ? `${this.assets.length} assets of at least ${thresholdOf(quorum)} operators`
        : `No asset is listed yet: at least ${thresholdOf(quorum)} operators have to answer.`;
    const foot = html`<p class="foot soft"><span id="count" role="status">${empty}</span></p>`;
    const notice = this.#problem === '' ? undefined : ({ tone: 'bad', text: this.#problem } as const);
    const bar = barView({ onSearch: (text) => this.#list.search(text), onSignOut: this.#signOut });
    const detail = quorumDetail({ quorum, row, operators, onBack: () => this.#showList() });
    render(
      html`${bar}${noticeView(notice)}<main id="quorum" class=${this.#isDetailed ? 'detailed' : ''}>${this.#list.view(foot)}${detail}</main>
${operatorCard((url, signer) => {
  location.hash = addOperator(location.hash, quorum.operators[0]!, url, signer);
})}`,
      this.#root,
    );
  }
}

/** Returns whether an address that the policy blocked belongs to a service. */
function isAt(blocked: string, url: string): boolean {
  const { host } = new URL(url);
  return URL.canParse(blocked) && new URL(blocked).host === host;
}
