#!/usr/bin/env node
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { fileHandleProblem } from '../server/uws/file_handles.js';
import { nodeProblem } from '../server/uws/machine.js';
import { npmKeptOption } from './npm_kept_option.js';
import { ownText, writeLine } from './shown_line.js';

// Modules of the program cannot be loaded on an older Node. Loading the program opens many files at once. Without these checks, both cause
// an error with a stack trace.
const problem = nodeProblem(process.versions.node) ?? fileHandleProblem(0) ?? npmKeptOption(process.env);
if (problem !== undefined) {
  writeLine(process.stderr, ownText(problem));
  process.exitCode = 1;
} else {
  // The reader of standard output may close the stream, as in `tickseal keygen | true`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  cacheCompiledCode();
  const { createProgram } = await import('./program.js');
  await (await createProgram(process.argv[2])).parseAsync();
}

/**
 * Makes Node store the program's compiled code for the next start, in a folder beside the program. Only users who can change the
 * program can write to this folder. Node before 22.8 lacks this function.
 */
function cacheCompiledCode(): void {
  const { enableCompileCache } = module as { enableCompileCache?: (folder: string) => unknown };
  enableCompileCache?.(fileURLToPath(new URL('../../compile-cache', import.meta.url)));
}
