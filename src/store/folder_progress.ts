/** The steps of work on a whole folder that takes long when it is large. */
export type FolderStep = 'checking pages' | 'checking records' | 'copying';

/** Called often with the finished part of a step, in the same unit as the total. */
export type OnProgress = (step: FolderStep, done: number, total: number) => void;
