import { closeSync, openSync, readdirSync } from 'node:fs';
import { availableParallelism, devNull } from 'node:os';

/**
 * The number of file handles that are reserved for the disk, new threads and the admin listener. This process releases these handles when
 * no other handles are left.
 */
const RESERVED_HANDLES = 16;
/** The number of reserved handles that the admin listener cannot use either. */
const LAST_HANDLES = 4;
/**
 * The factor by which more handles must be free before a listener opens again. Without this factor, a listener could open and
 * close with each connection.
 */
const SLACK = 2;
/** The interval of checks. A check takes 10 µs, and 0.2 ms in an idle process, because the process must wake up. */
const CHECK_MS = 500;

/**
 * The number of handles that a start opens in addition to the handles of its threads. A start reads many modules at once, and
 * then opens the data folder and the ports, and accepts some clients.
 */
const START_HANDLES = 96;
/** The number of handles for a thread. A measurement found 10. */
const HANDLES_PER_THREAD = 12;

/**
 * Returns the reason why the process has too few file handles to start, in one sentence.
 * @param threads the number of threads to start
 * @returns `undefined` when the process has enough handles
 */
export function fileHandleProblem(threads: number): string | undefined {
  const count = START_HANDLES + HANDLES_PER_THREAD * threads;
  const opened = openHandles(count);
  closeHandles(opened);
  if (opened.length === count) return undefined;
  const limit = handleLimit() ?? opened.length;
  // The advice names the number of handles that the service needs, because the user of a smaller command probably runs the service next.
  const missing =
    START_HANDLES + HANDLES_PER_THREAD * Math.max(threads, availableParallelism()) - opened.length;
  return `too few file handles: the limit is ${limit}, and at least ${limit + missing} are needed to start, with one more for each connection (ulimit -n, or LimitNOFILE of systemd)`;
}

/** Returns the limit of the system on the file handles of this process; `undefined` if there is none. */
function handleLimit(): number | undefined {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: number } } };
  const soft = Number(userLimits?.open_files?.soft);
  return Number.isFinite(soft) ? soft : undefined;
}

/** The number of handles that are left to the disk, to the admin listener and to outgoing connections. */
const HANDLES_WITHOUT_CLIENTS = 64;

/** Returns the number of connections of clients for which the process has file handles. Its threads and its store must be open. */
export function handlesForClients(): number {
  const limit = handleLimit();
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  return Math.max(0, limit - readdirSync('/dev/fd').length - HANDLES_WITHOUT_CLIENTS);
}

/** The listeners that still have file handles for new connections. */
export interface HandlesFor {
  readonly clients: boolean;
  readonly admin: boolean;
}

/** The listeners of a process, and the log that reports times without new connections. */
export interface GuardedListeners {
  readonly clients: { setAccepting(accepting: boolean): void };
  readonly admin: { setAccepting(accepting: boolean): void };
  readonly logger: { warn(message: string): void };
}

/** Closes the listeners of a process while the process runs out of file handles. The listeners of clients close first. */
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
 * Watches whether the process runs out of file handles. Without a free handle, the listener cannot accept a waiting connection.
 * The listener then stays ready forever, and the event loop uses a whole core.
 */
export class FileHandleWatch {
  readonly #onLook: (handlesFor: HandlesFor) => void;
  readonly #timer: NodeJS.Timeout;
  #reserve = openHandles(RESERVED_HANDLES);
  #handlesFor: HandlesFor = { clients: true, admin: true };

  /** @param onLook called after each check, even if nothing changed, because the caller may have missed the previous call */
  constructor(onLook: (handlesFor: HandlesFor) => void) {
    this.#onLook = onLook;
    this.#timer = setInterval(() => this.#checkHandles(), CHECK_MS).unref();
  }

  get isShort(): boolean {
    return !this.#handlesFor.clients;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#letGo();
  }

  #checkHandles(): void {
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

/** Opens `count` handles, or fewer if no more are available. */
function openHandles(count: number): number[] {
  const opened: number[] = [];
  try {
    while (opened.length < count) opened.push(openSync(devNull, 'r'));
  } catch {
    // No more handles are available.
  }
  return opened;
}

function closeHandles(opened: readonly number[]): void {
  for (const handle of opened) closeSync(handle);
}
