import { instantText, readInstant } from '../../model/instant.js';
import { byId } from './elements.js';
import { momentText } from './price_text.js';
import type { ProvenAggregate } from './seal_card.js';
import type { StateBar } from './state_bar.js';

/** The asset at a past instant. */
export interface PastView {
  readonly atNs: bigint;
  /** The verified price at that instant; `undefined` while the page reads the price, or when there was no price. */
  readonly price: bigint | undefined;
  readonly signedAtNs: bigint | undefined;
  /** True if a check failed. */
  readonly isFailed: boolean;
  /** The reason why there is no price. */
  readonly problem: string | undefined;
}

/** The instant that the page shows, with its picker. The picker's times are in UTC. */
export class TimeTravel {
  readonly #input = byId<HTMLInputElement>('instant');
  readonly #states: Pick<StateBar, 'showRemark'>;
  #atNs: bigint | undefined;

  /**
   * @param states shows a remark about a time that cannot be read
   * @param onTravel called with the time that the reader selected; `undefined` for the current time
   */
  constructor(states: Pick<StateBar, 'showRemark'>, onTravel: (at: string | undefined) => void) {
    this.#states = states;
    byId('time').addEventListener('submit', (event) => {
      event.preventDefault();
      const ns = readInstant(`${this.#input.value}Z`);
      if (ns !== undefined) onTravel(instantText(ns));
    });
    byId('time-now').addEventListener('click', () => onTravel(undefined));
  }

  /** Returns the instant; `undefined` for the current time. */
  get atNs(): bigint | undefined {
    return this.#atNs;
  }

  /** Returns the instant as the address has it. */
  get text(): string | undefined {
    return this.#atNs === undefined ? undefined : instantText(this.#atNs);
  }

  /** Goes to the time of an address. @returns true if the time has changed */
  goTo(at: string | undefined): boolean {
    const ns = at === undefined ? undefined : readInstant(at);
    if (at !== undefined && ns === undefined)
      this.#states.showRemark(
        `The link names the time ${at}, which is not a time such as 2026-11-20T12:00:00Z. The page shows the present.`,
      );
    const isOther = ns !== this.#atNs;
    this.#atNs = ns;
    this.#input.value = ns === undefined ? '' : instantText(ns).slice(0, 'YYYY-MM-DDTHH:MM:SS'.length);
    byId('time-now').hidden = ns === undefined;
    const banner = byId('time-text');
    banner.hidden = ns === undefined;
    banner.textContent = ns === undefined ? '' : `As it was signed at ${momentText(ns)}`;
    return isOther;
  }

  /** Returns the asset at the instant; `undefined` for the current time. */
  view(proven: ProvenAggregate | undefined, problem: string | undefined): PastView | undefined {
    const atNs = this.#atNs;
    if (atNs === undefined) return undefined;
    const { content, report } = proven?.proof ?? {};
    if (report?.verdict === 'verified')
      return {
        atNs,
        price: content!.price,
        signedAtNs: content!.signedAtNs,
        isFailed: false,
        problem: undefined,
      };
    const failed = report?.checks.find(({ status }) => status === 'failed');
    return {
      atNs,
      price: undefined,
      signedAtNs: undefined,
      isFailed: failed !== undefined,
      problem: failed === undefined ? problem : `${failed.name}: ${failed.reason}`,
    };
  }
}
