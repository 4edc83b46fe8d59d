import { closeSync, openSync } from 'node:fs';
import { availableParallelism, devNull } from 'node:os';

/**
 * File handles that are kept from clients, and released when no others are left: the disk, new threads and the admin
 * listener need some.
 */
const RESERVED_HANDLES = 16;
/** Those that are kept from the admin listener too. */
const LAST_HANDLES = 4;
/** So many times more must be free again, so that a listener does not open and close with each connection. */
const SLACK = 2;
/** A look takes 10 µs, and an idle process 0.2 ms with what it takes to wake up. */
const LOOK_MS = 500;

/** What a start opens beside its threads: modules are read many at once, then come the data folder, the ports and some clients. */
const START_HANDLES = 96;
/** A thread was measured to open 10. */
const HANDLES_PER_THREAD = 12;

/**
 * Why there are too few file handles to start: one sentence.
 * @param threads how many threads are to be started.
 * @returns `undefined` when there are enough.
 */
export function fileHandleProblem(threads: number): string | undefined {
  const count = START_HANDLES + HANDLES_PER_THREAD * threads;
  const opened = openHandles(count);
  closeHandles(opened);
  if (opened.length === count) return undefined;
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: number } } };
  const soft = Number(userLimits?.open_files?.soft);
  const limit = Number.isFinite(soft) ? soft : opened.length;
  // Whoever runs a command that needs few handles probably runs the service next.
  const missing =
    START_HANDLES + HANDLES_PER_THREAD * Math.max(threads, availableParallelism()) - opened.length;
  return `too few file handles: the limit is ${limit}, and at least ${limit + missing} are needed to start, with one more for each connection (ulimit -n, or LimitNOFILE of systemd)`;
}

/** Whose connections there are file handles for. */
export interface HandlesFor {
  readonly clients: boolean;
  readonly admin: boolean;
}

/** The listeners of a process, and where it is told that they take no connections. */
export interface GuardedListeners {
  readonly clients: { setAccepting(accepting: boolean): void };
  readonly admin: { setAccepting(accepting: boolean): void };
  readonly logger: { warn(message: string): void };
}

/** Closes the listeners of a process while it runs out of file handles, those of clients first. */
export function guardFileHandles({ clients, admin, logger }: GuardedListeners): FileHandleWatch {
  let accepting = true;
  return new FileHandleWatch((handlesFor) => {
    if (handlesFor.clients !== accepting) {
      logger.warn(accepting ? 'file handles run out: no new connections' : 'file handles are free again');
      accepting = handlesFor.clients;
      clients.setAccepting(accepting);
    }
    admin.setAccepting(handlesFor.admin);
  });
}

/**
 * Looks whether the process runs out of file handles. Without one left, a connection that cannot be accepted makes its
 * listener ready for ever, and the event loop spins at the cost of a core.
 */
export class FileHandleWatch {
  readonly #onLook: (handlesFor: HandlesFor) => void;
  readonly #timer: NodeJS.Timeout;
  #reserve = openHandles(RESERVED_HANDLES);
  #handlesFor: HandlesFor = { clients: true, admin: true };

  /** @param onLook called after every look, also when nothing changed: the caller may have missed the one before. */
  constructor(onLook: (handlesFor: HandlesFor) => void) {
    this.#onLook = onLook;
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  get isShort(): boolean {
    return !this.#handlesFor.clients;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#letGo();
  }

  #look(): void {
    if (!this.isShort && !canOpen(LAST_HANDLES)) this.#handlesFor = { clients: false, admin: true };
    if (this.isShort) this.#lookWhileShort();
    this.#onLook(this.#handlesFor);
  }

  #lookWhileShort(): void {
    this.#letGo();
    const { admin } = this.#handlesFor;
    const clients = canOpen(RESERVED_HANDLES * SLACK);
    if (clients) this.#reserve = openHandles(RESERVED_HANDLES);
    this.#handlesFor = { clients, admin: clients || canOpen(admin ? LAST_HANDLES : LAST_HANDLES * SLACK) };
  }

  #letGo(): void {
    closeHandles(this.#reserve);
    this.#reserve = [];
  }
}

function canOpen(count: number): boolean {
  const opened = openHandles(count);
  closeHandles(opened);
  return opened.length === count;
}

/** As many as there are. */
function openHandles(count: number): number[] {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync(devNull, 'r'));
  } catch {
    // There are no more.
  }
  return opened;
}

function closeHandles(opened: readonly number[]): void {
  for (const handle of opened) closeSync(handle);
}
