import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { bodyOf, routesOf } from '../../../scripts/site/described_routes.js';
import { NOT_PREPARED, preparedPackages } from '../../prepared_packages.js';

// Tests of the documents with tools of another language.

const OPEN_API = bodyOf(routesOf('service'), '/openapi.json');
const PYTHON = 'python3';
const canRun = (program: string) => spawnSync(PYTHON, ['-c', program]).status === 0;

const VALIDATOR = 'import openapi_spec_validator';
const VALIDATE = `import json, sys
from openapi_spec_validator import validate
validate(json.load(sys.stdin))`;

test('openapi-spec-validator accepts the OpenAPI document', {
  skip: !canRun(VALIDATOR) && 'Python lacks openapi-spec-validator',
}, async (t) => {
  t.equal(spawnSync(PYTHON, ['-c', VALIDATE], { input: OPEN_API }).status, 0);
});

const ogen = preparedPackages().get('ogen');

test('ogen makes a Go client of the OpenAPI document', {
  skip: ogen === undefined && NOT_PREPARED,
}, async (t) => {
  const folder = t.testdir({ 'go.mod': 'module readers\n', 'openapi.json': OPEN_API });
  execFileSync(join(ogen!, 'ogen'), ['--target', 'api', '--package', 'api', 'openapi.json'], {
    cwd: folder,
    stdio: 'ignore',
  });
  const schemas = readFileSync(join(folder, 'api/oas_schemas_gen.go'), 'utf8');
  t.match(schemas, /^type UdfQuotesDItemType string$/m, 'its field says which it is');
});
