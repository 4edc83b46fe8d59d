import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { sep } from 'node:path';
import { shownText } from './shown_text.js';
import { cannotBeRead } from './unreadable_file.js';

/** The text of a file, or the reason why the file cannot be used. The reason shows no part of the text. */
export type ReadText = { readonly text: string } | { readonly message: string };

/** Reads a file that only its owner can use. Refuses a file that its group or other users can use. */
export function readSecretFile(file: string): ReadText {
  return readRegularFile(file, true);
}

/** Reads a file that is not secret. */
export function readPublicFile(file: string): ReadText {
  return readRegularFile(file, false);
}

function readRegularFile(file: string, isSecret: boolean): ReadText {
  let descriptor: number | undefined;
  try {
    // The check and the read use the same descriptor, so both see the same file. The code opens the file non-blocking, because opening a
    // pipe could block.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return { message: `${file} is not a file` };
    if (isSecret && (stat.mode & 0o077) !== 0) {
      const mode = (stat.mode & 0o777).toString(8).padStart(4, '0');
      return { message: `${file} is open to its group or to others (mode ${mode}); chmod 600 it` };
    }
    return { text: readFileSync(descriptor, 'utf8') };
  } catch (error) {
    return { message: unreadableReason(file, error) };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * Returns the reason why a file cannot be read. The function hides a path that may be a key, because an operator may write a key in place
 * of a file name. A key in base64 may contain slashes, so the function checks each end of the path.
 */
function unreadableReason(file: string, error: unknown): string {
  const steps = file.split(sep);
  const isShown = steps.map((_, at) => steps.slice(at).join(sep)).every((text) => shownText(text) === text);
  return `${isShown ? file : 'the file'} ${cannotBeRead(error)}`;
}
