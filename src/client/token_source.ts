/** Gives the token of each request and connection, and a new one after it was refused. */
export class TokenSource {
  readonly #getToken: (() => string | Promise<string>) | undefined;
  #token: Promise<string | undefined> | undefined;
  /** What {@link #token} resolved with. */
  #current: string | undefined;
  /** The token that a service refused last. */
  #refused: string | undefined;

  constructor(token: string | undefined, getToken: (() => string | Promise<string>) | undefined) {
    this.#getToken = getToken;
    if (getToken === undefined) this.#token = Promise.resolve(token);
  }

  /** Asks the caller's `getToken` when there is none yet; rejects as that does. */
  token(): Promise<string | undefined> {
    this.#token ??= this.#ask();
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
    return true;
  }

  async #ask(): Promise<string> {
    try {
      this.#current = await this.#getToken!();
      return this.#current;
    } catch (error) {
      this.#token = undefined;
      throw error;
    }
  }
}
