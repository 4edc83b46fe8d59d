import { pastFolderOf } from '../log/past/hour_paths.js';
import { checkPast } from '../log/past/past_check.js';
import type { OnProgress } from '../log/store/contents.js';

/** Checks the past of a data folder. @returns the damage, each in one sentence */
export function checkPastOf(dir: string, onProgress: OnProgress): Promise<string[]> {
  return checkPast(pastFolderOf(dir), (...of) => onProgress('checking the past', ...of));
}
