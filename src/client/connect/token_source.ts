/** Gives the token of each request and connection, and a new one after it was refused. */
export class TokenSource {
  readonly #getToken: (() => string | Promise<string>) | undefined;
  #token: Promise<string | undefined> | undefined;
  /** What {@link #token} resolved with; none while a new one is asked for. */
  #current: string | undefined;
  /** The token that a service refused last. */
  #refused: string | undefined;

  constructor(token: string | undefined, getToken: (() => string | Promise<string>) | undefined) {
    this.#getToken = getToken;
    if (getToken === undefined) this.#token = Promise.resolve(token);
  }

  /** Asks the caller's `getToken` when there is none yet; rejects as that does. */
  token(): Promise<string | undefined> {
    if (this.#token === undefined) {
      const token = this.#ask();
      this.#token = token;
      // Asked again next time.
      token.catch(() => {
        if (this.#token === token) this.#token = undefined;
      });
    }
    return this.#token;
  }

  /** The service refused `token`. @returns whether a new one can be asked for. */
  refuse(token: string | undefined): boolean {
    if (this.#getToken === undefined) return false;
    // Another request may have asked for a new one meanwhile.
    if (token !== this.#current) return true;
    // The caller gave the same token again.
    if (token !== undefined && token === this.#refused) return false;
    this.#refused = token;
    this.#token = undefined;
    this.#current = undefined;
    return true;
  }

  async #ask(): Promise<string> {
    const token = await this.#getToken!();
    this.#current = token;
    return token;
  }
}
