/** The metrics of the last reload and of the certificate. */
export interface ReloadState {
  /** The UNIX second of the last reload or of the start, and true if the reload applied the file. */
  readonly reload: { readonly atSeconds: number; readonly isOk: boolean };
  /** The UNIX second at which the first certificate of the chain expires; `undefined` without TLS. */
  readonly certificateEndSeconds: number | undefined;
}

/** The verdict on the last reload that a signal requested. `/last_reload` of the admin listener answers with it. */
export interface ReloadVerdict {
  /** The number of reloads since the start. */
  readonly number: number;
  readonly isOk: boolean;
  /** The warnings of a reload that applied the file, or the reasons of one that did not. */
  readonly messages: readonly string[];
}

/** The outcomes of configuration reloads. The start counts as the first reload. */
export class Reloads {
  readonly #nowSeconds: () => number;
  readonly #certificateEndSeconds: () => number | undefined;
  #state!: ReloadState;
  #verdict: ReloadVerdict = { number: 0, isOk: true, messages: [] };

  /**
   * @param nowSeconds returns UNIX seconds
   * @param certificateEndSeconds reads the end of the certificate. The function returns `undefined` without TLS, and also when the file
   * cannot be used; the previous certificate then stays in use.
   */
  constructor(nowSeconds: () => number, certificateEndSeconds: () => number | undefined) {
    this.#nowSeconds = nowSeconds;
    this.#certificateEndSeconds = certificateEndSeconds;
    this.#noteSuccess();
  }

  get state(): ReloadState {
    return this.#state;
  }

  /**
   * Runs a reload.
   * @throws the errors of `reload`
   */
  run(reload: () => void): void {
    try {
      reload();
    } catch (error) {
      this.#noteFailure();
      throw error;
    }
    this.#noteSuccess();
  }

  get verdict(): ReloadVerdict {
    return this.#verdict;
  }

  /** Records the verdict on a requested reload. A file that was invalid before {@link run} counts as a failed reload. */
  decided(isOk: boolean, messages: readonly string[]): void {
    if (!isOk) this.#noteFailure();
    this.#verdict = { number: this.#verdict.number + 1, isOk, messages };
  }

  #noteFailure(): void {
    this.#state = { ...this.#state, reload: { atSeconds: this.#nowSeconds(), isOk: false } };
  }

  #noteSuccess(): void {
    this.#state = {
      reload: { atSeconds: this.#nowSeconds(), isOk: true },
      certificateEndSeconds: this.#certificateEndSeconds() ?? this.#state?.certificateEndSeconds,
    };
  }
}
