/** One thing that was looked at, by name. A reason says what is wrong, or why it could not be looked at. */
export interface Check {
  readonly name: string;
  readonly status: 'ok' | 'failed' | 'skipped';
  readonly reason?: string;
}

/** The checks of one verification, in the order in which they were made. */
export class CheckList {
  readonly checks: Check[] = [];

  /** No check failed; a skipped one does not count against it. */
  get ok(): boolean {
    return this.checks.every(({ status }) => status !== 'failed');
  }

  /** Records whether `holds`, with `reason` when it does not, and returns it. */
  expect(name: string, holds: boolean, reason: string): boolean {
    this.checks.push(holds ? { name, status: 'ok' } : { name, status: 'failed', reason });
    return holds;
  }

  skip(name: string, reason: string): void {
    this.checks.push({ name, status: 'skipped', reason });
  }
}
