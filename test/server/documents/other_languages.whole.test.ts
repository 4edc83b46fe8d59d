import { execFileSync, spawnSync } from 'node:child_process';
import { test } from 'tap';
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
