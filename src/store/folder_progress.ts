/** A step of work on a whole folder. A step takes long when the folder is large. */
export type FolderStep = 'checking pages' | 'checking records' | 'copying';

/** Called often during a step, with the finished part in the same unit as the total. */
export type OnProgress = (step: FolderStep, done: number, total: number) => void;
