/** The source of the token for each request and each connection. The source requests a new token after a refusal. */
export class TokenSource {
  readonly #getToken: (() => string | Promise<string>) | undefined;
  #token: Promise<string | undefined> | undefined;
  /** The result of {@link #token}; `undefined` while a new token is requested. */
  #current: string | undefined;
  /** The last token that a service refused. */
  #refused: string | undefined;

  constructor(token: string | undefined, getToken: (() => string | Promise<string>) | undefined) {
    this.#getToken = getToken;
    if (getToken === undefined) this.#token = Promise.resolve(token);
  }

  /** Returns the token. If no token is known, calls the caller's `getToken`, and rejects when `getToken` rejects. */
  token(): Promise<string | undefined> {
    if (this.#token === undefined) {
      const token = this.#requestToken();
      this.#token = token;
      // After a failure the next call asks again.
      token.catch(() => {
        if (this.#token === token) this.#token = undefined;
      });
    }
    return this.#token;
  }

  /** Handles the refusal of `token`. @returns true if a new token can be requested. */
  refuse(token: string | undefined): boolean {
    if (this.#getToken === undefined) return false;
    // Another request has already requested a new token.
    if (token !== this.#current) return true;
    // The caller's function returned the refused token again.
    if (token !== undefined && token === this.#refused) return false;
    this.#refused = token;
    this.#token = undefined;
    this.#current = undefined;
    return true;
  }

  async #requestToken(): Promise<string> {
    const token = await this.#getToken!();
    this.#current = token;
    return token;
  }
}
