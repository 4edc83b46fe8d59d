/** Files beside the store that are written before each commit. On disk, these files are never behind the store. */
export interface CommitCompanion {
  /** @throws Error (as a rejection) when the write fails; the commit then fails too, and is tried again */
  write(): Promise<void>;
  /** Called when the commit after {@link write} is on disk. */
  committed(): void;
  /** Called after the last commit, and before another process may write. */
  close(): Promise<void>;
}
