import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import type { Mutant } from './mutant.js';

/** The parts of Node's loader hooks that this file uses. Node's types of version 20 lack them. */
interface Loaded {
  readonly format: string;
  readonly source: string;
  readonly shortCircuit: true;
}

let mutant: Mutant | undefined;
let compiled = '';

/** Receives the mutant of this process. Node calls this hook once. */
export function initialize(given: Mutant): void {
  mutant = given;
  compiled = `/dist/${given.module.replace(/\.ts$/, '.js')}`;
}

/** Gives the mutant's module with its bent line. Node calls this hook for each module. */
export function load<Context, Rest>(
  url: string,
  context: Context,
  next: (url: string, context: Context) => Rest,
): Rest | Loaded {
  if (mutant === undefined || !url.endsWith(compiled)) return next(url, context);
  const source = readFileSync(fileURLToPath(url).replace('/dist/', '/').replace(/\.js$/, '.ts'), 'utf8');
  const bent = source.replace(mutant.line, () => mutant!.bent);
  return {
    format: 'module',
    source: transformSync(bent, { loader: 'ts', format: 'esm', target: 'es2023' }).code,
    shortCircuit: true,
  };
}
