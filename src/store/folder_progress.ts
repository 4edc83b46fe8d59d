/** A step of work on a whole folder. A step takes long when the folder is large. */
export type FolderStep = 'checking pages' | 'checking records' | 'copying';

/** Called often during a step. `done` has the same unit as `total`. */
export type OnProgress = (step: FolderStep, done: number, total: number) => void;
