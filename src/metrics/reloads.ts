/** The metrics of the last reload and of the certificate. */
export interface ReloadState {
  /** The UNIX second of the last reload or of the start, and true if the reload applied the file. */
  readonly reload: { readonly atSeconds: number; readonly isOk: boolean };
  /** The UNIX second at which the first certificate of the chain expires; `undefined` without TLS. */
  readonly certificateEndSeconds: number | undefined;
}

/** The outcomes of configuration reloads. The start counts as the first reload. */
export class Reloads {
  readonly #nowSeconds: () => number;
  readonly #certificateEndSeconds: () => number | undefined;
  #state!: ReloadState;

  /**
   * @param nowSeconds returns UNIX seconds
   * @param certificateEndSeconds reads the end of the certificate. The function returns `undefined` without TLS, and also when the file
   * cannot be used; the previous certificate then stays in use.
   */
  constructor(nowSeconds: () => number, certificateEndSeconds: () => number | undefined) {
    this.#nowSeconds = nowSeconds;
    this.#certificateEndSeconds = certificateEndSeconds;
    this.#succeeded();
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
      this.failed();
      throw error;
    }
    this.#succeeded();
  }

  failed(): void {
    this.#state = { ...this.#state, reload: { atSeconds: this.#nowSeconds(), isOk: false } };
  }

  #succeeded(): void {
    this.#state = {
      reload: { atSeconds: this.#nowSeconds(), isOk: true },
      certificateEndSeconds: this.#certificateEndSeconds() ?? this.#state?.certificateEndSeconds,
    };
  }
}
