/** A line of src that is bent, and the test that must fail then. */
export interface Mutant {
  readonly name: string;
  /** The path from the project's folder. */
  readonly module: string;
  /** Text that the module has exactly once. */
  readonly line: string;
  readonly bent: string;
  /** The path of the test. */
  readonly test: string;
}

type Row = readonly [name: string, line: string, bent: string, test?: string];

/** Returns the mutants of a module. The test of a row without one is that of the module. */
export function mutantsOf(module: string, test: string, rows: readonly Row[]): Mutant[] {
  return rows.map(([name, line, bent, other = test]) => ({
    name,
    module: `src/${module}.ts`,
    line,
    bent,
    test: `test/${other}.test.ts`,
  }));
}
