import { join } from 'node:path';
import { NOT_PREPARED, preparedPackages } from './prepared_packages.js';
import { runProgram } from './run_program.js';

// Readers of exported files in another language: the Python packages pyarrow and duckdb. TICKSEAL_PYTHON can name a Python with both.

const PREPARED = preparedPackages().get('parquet');
const PYTHON = process.env['TICKSEAL_PYTHON'] ?? (PREPARED && join(PREPARED, 'env/bin/python'));

/** The options of a test that reads files with Python. */
export const NEEDS_PYTHON = { skip: PYTHON === undefined && NOT_PREPARED };

/** A file as a library reads it. Integers are decimal text, a price is its decimal text times 10^18. */
export interface ReadFile {
  readonly library: 'pyarrow' | 'duckdb';
  readonly path: string;
  readonly types: Readonly<Record<string, string>>;
  readonly rows: readonly (readonly (string | null)[])[];
}

/** Prints a line of JSON for each file and library. A decimal is printed from its digits, because arithmetic would round it. */
const PROGRAM = `
import json, sys, decimal, pyarrow.parquet, duckdb

def shown(value):
    if isinstance(value, decimal.Decimal):
        sign, digits, exponent = value.as_tuple()
        scaled = int("".join(map(str, digits))) * 10 ** (18 + exponent)
        return str(-scaled if sign else scaled)
    return None if value is None else str(value)

def say(library, path, types, rows):
    rows = [[shown(value) for value in row] for row in rows]
    print(json.dumps({"library": library, "path": path, "types": types, "rows": rows}))

for path in sys.argv[1:]:
    source = f"read_parquet('{path}')"
    if path.endswith(".csv"):
        source = f"read_csv('{path}', types = {{'price': 'DECIMAL(38,18)'}})"
    else:
        table = pyarrow.parquet.read_table(path)
        types = {field.name: str(field.type) for field in table.schema}
        say("pyarrow", path, types, (row.values() for row in table.to_pylist()))
    relation = duckdb.sql(f"select * from {source}")
    say("duckdb", path, dict(zip(relation.columns, map(str, relation.types))), relation.fetchall())
`;

/** Reads Parquet files with both libraries, and CSV files with duckdb. */
export async function readWithPython(paths: readonly string[]): Promise<ReadFile[]> {
  const text = await runProgram(PYTHON!, ['-c', PROGRAM, ...paths]);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as ReadFile);
}
