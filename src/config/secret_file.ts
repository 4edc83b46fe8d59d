import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { sep } from 'node:path';
import { shownText } from './shown_text.js';

/** What was read, or why it is not used; the message shows nothing of it. */
export type ReadText = { readonly text: string } | { readonly message: string };

/** Reads a file that only its owner can use; one that its group or others can use is refused, whatever it holds. */
export function readSecretFile(file: string): ReadText {
  return readRegularFile(file, true);
}

/** Reads a file that anybody may know. */
export function readPublicFile(file: string): ReadText {
  return readRegularFile(file, false);
}

function readRegularFile(file: string, isSecret: boolean): ReadText {
  let descriptor: number | undefined;
  try {
    // What is looked at is what is read, also when another file takes its name in between; a pipe is not waited for.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return { message: `${file} is not a file` };
    if (isSecret && (stat.mode & 0o077) !== 0) {
      const mode = (stat.mode & 0o777).toString(8).padStart(4, '0');
      return { message: `${file} is open to its group or to others (mode ${mode}); chmod 600 it` };
    }
    return { text: readFileSync(descriptor, 'utf8') };
  } catch (error) {
    return { message: unreadable(file, error) };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Why a file cannot be read. Where a name belongs may stand a key by mistake, whose base64 may have slashes in it. */
function unreadable(file: string, error: unknown): string {
  const steps = file.split(sep);
  const isShown = steps.map((_, at) => steps.slice(at).join(sep)).every((text) => shownText(text) === text);
  return `${isShown ? file : 'the file'} cannot be read (${(error as NodeJS.ErrnoException).code})`;
}
