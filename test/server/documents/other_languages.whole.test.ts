import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { NOT_PREPARED, preparedPackages } from '../../prepared_packages.js';
import { DOCUMENTS, PATTERNS, TEXTS } from './patterns.js';

// Tests of the documents with tools of another language.

const PYTHON = 'python3';
const canRun = (program: string) => spawnSync(PYTHON, ['-c', program]).status === 0;

/** Runs a Python program with a JSON value on its standard input. @returns the JSON value that it prints */
function python(program: string, input: string): unknown {
  return JSON.parse(execFileSync(PYTHON, ['-c', program], { input, encoding: 'utf8' }));
}

const MATCHES = `import json, re, sys
given = json.load(sys.stdin)
print(json.dumps([[re.search(one, text) is not None for text in given['texts']] for one in given['patterns']]))`;

test('patterns mean the same in Python', { skip: !canRun('') && 'there is no python3' }, async (t) => {
  const found = python(MATCHES, JSON.stringify({ patterns: PATTERNS, texts: TEXTS }));
  const expected = PATTERNS.map((pattern) => TEXTS.map((text) => new RegExp(pattern).test(text)));
  t.same(found, expected);
});

const VALIDATOR = 'import openapi_spec_validator';
const VALIDATE = `import json, sys
from openapi_spec_validator import validate
validate(json.load(sys.stdin))
print('"valid"')`;

test('openapi-spec-validator accepts the OpenAPI document', {
  skip: !canRun(VALIDATOR) && 'Python lacks openapi-spec-validator',
}, async (t) => {
  t.equal(python(VALIDATE, DOCUMENTS['/openapi.json']!), 'valid');
});

const ogen = preparedPackages().get('ogen');

test('ogen makes a Go client of the OpenAPI document', {
  skip: ogen === undefined && NOT_PREPARED,
}, async (t) => {
  const folder = t.testdir({ 'go.mod': 'module readers\n', 'openapi.json': DOCUMENTS['/openapi.json']! });
  execFileSync(join(ogen!, 'ogen'), ['--target', 'api', '--package', 'api', 'openapi.json'], {
    cwd: folder,
    stdio: 'ignore',
  });
  const schemas = readFileSync(join(folder, 'api/oas_schemas_gen.go'), 'utf8');
  t.match(schemas, /^type UdfQuotesDItemType string$/m, 'its field says which it is');
});
