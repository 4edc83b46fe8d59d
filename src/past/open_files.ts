import { type FileHandle, open } from 'node:fs/promises';

/** The largest number of hours with open files. */
export const OPEN_HOURS_MAX = 8;
/** The largest number of open files. */
export const OPEN_FILES_MAX = OPEN_HOURS_MAX * 2;

export interface SharedFile {
  readonly path: string;
  readonly file: FileHandle;
}

interface UsedHour<Kind> {
  users: number;
  /** The files that are open or opening; `undefined` for a file that does not exist. */
  readonly files: Map<Kind, Promise<SharedFile | undefined>>;
}

/**
 * The open files of hours. Reads of the same hour share its files, and the last of the reads closes the files. Many readers at the same
 * time need few file handles, because a read waits while the files of {@link OPEN_HOURS_MAX} other hours are open. A caller may use only
 * one hour at a time, so no read waits for itself.
 */
export class OpenFiles<Kind> {
  readonly #pathOf: (hour: number, kind: Kind) => string;
  readonly #hours = new Map<number, UsedHour<Kind>>();
  /** The number of hours whose files are being closed. */
  #closing = 0;
  /** The reads that wait, in the order of their calls. */
  readonly #waiting: { readonly hour: number; readonly start: () => void }[] = [];

  constructor(pathOf: (hour: number, kind: Kind) => string) {
    this.#pathOf = pathOf;
  }

  /** Begins a read of an hour, which {@link leave} must end. Waits while too many other hours are in use. */
  async enter(hour: number): Promise<void> {
    // A read of an open hour waits too while others wait. Otherwise such reads could keep all hours open forever.
    if (this.#waiting.length > 0 || !this.#canEnter(hour))
      await new Promise<void>((start) => this.#waiting.push({ hour, start }));
    else this.#add(hour);
  }

  /** Opens a file of an hour that the caller has entered. @returns `undefined` when the hour has no file of this kind */
  async open(hour: number, kind: Kind): Promise<SharedFile | undefined> {
    const { files } = this.#hours.get(hour)!;
    const known = files.get(kind);
    // A file that was missing for another read may exist now.
    if (known !== undefined) return (await known) ?? this.open(hour, kind);
    const opening = openIfExists(this.#pathOf(hour, kind));
    files.set(kind, opening);
    try {
      const file = await opening;
      if (file === undefined) files.delete(kind);
      return file;
    } catch (error) {
      files.delete(kind);
      throw error;
    }
  }

  /** Ends a read of an hour. Resolves when the files are closed, if no other read uses them. */
  async leave(hour: number): Promise<void> {
    const used = this.#hours.get(hour)!;
    used.users--;
    if (used.users > 0) return;
    this.#hours.delete(hour);
    this.#closing++;
    try {
      await Promise.all([...used.files.values()].map(async (opening) => (await opening)?.file.close()));
    } finally {
      this.#closing--;
      this.#startWaiting();
    }
  }

  #startWaiting(): void {
    while (this.#waiting.length > 0 && this.#canEnter(this.#waiting[0]!.hour)) {
      const { hour, start } = this.#waiting.shift()!;
      this.#add(hour);
      start();
    }
  }

  #canEnter(hour: number): boolean {
    return this.#hours.has(hour) || this.#hours.size + this.#closing < OPEN_HOURS_MAX;
  }

  #add(hour: number): void {
    const used = this.#hours.get(hour);
    if (used === undefined) this.#hours.set(hour, { users: 1, files: new Map() });
    else used.users++;
  }
}

async function openIfExists(path: string): Promise<SharedFile | undefined> {
  try {
    return { path, file: await open(path, 'r') };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
