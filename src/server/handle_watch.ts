import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

/** File handles that are kept from clients: the disk, new threads and the admin listener need some. */
const RESERVED_HANDLES = 16;
/** Clients are let in again when more are free, so that the listener does not open and close with each of them. */
const FREE_HANDLES_MIN = 2 * RESERVED_HANDLES;
/** A look takes 40 µs. */
const LOOK_MS = 100;

/**
 * Looks whether the process runs out of file handles. Without one left, a connection that cannot be accepted makes the
 * listener ready for ever, and the event loop spins at the cost of a core.
 */
export class HandleWatch {
  readonly #onLook: (isShort: boolean) => void;
  readonly #timer: NodeJS.Timeout;
  #isShort = false;

  /** @param onLook told of every look, so that what has changed in between is put right by the next. */
  constructor(onLook: (isShort: boolean) => void) {
    this.#onLook = onLook;
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  get isShort(): boolean {
    return this.#isShort;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    this.#isShort = !canOpen(this.#isShort ? FREE_HANDLES_MIN : RESERVED_HANDLES);
    this.#onLook(this.#isShort);
  }
}

function canOpen(count: number): boolean {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync(devNull, 'r'));
    return true;
  } catch {
    return false;
  } finally {
    for (const handle of opened) closeSync(handle);
  }
}
