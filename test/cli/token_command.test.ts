import { createHash } from 'node:crypto';
import { test } from 'tap';
import { registerToken } from '../../src/cli/token_command.js';
import { parseConfig } from '../../src/config/load.js';
import { run } from './run.js';

test('a token of 256 bits and the entry that lets it in', async (t) => {
  const names = ['alice', `Bob's "bot": #1`];
  const tokens: string[] = [];
  for (const name of names) {
    const { out, err, exitCode } = await run(registerToken, 'token', '--name', name);
    t.same([err, exitCode], ['', 0]);
    const token = /^[\w-]{43}$/m.exec(out)?.[0] ?? '';
    t.equal(Buffer.from(token, 'base64url').length, 32);
    const result = parseConfig(`keys: { evm: { env: K } }\n${out.slice(out.indexOf('tokens:'))}`, 'c');
    t.match(result, {
      config: { tokens: [{ name, sha256: createHash('sha256').update(token).digest() }] },
    });
    tokens.push(token);
  }
  t.not(tokens[0], tokens[1]);
});

test('a name that the configuration would refuse is refused', async (t) => {
  t.match(await run(registerToken, 'token', '--name', ''), {
    out: '',
    err: /^--name: expected a name/,
    exitCode: 2,
  });
  t.match(await run(registerToken, 'token'), {
    out: '',
    err: /required option '--name <name>'/,
    exitCode: 1,
  });
});
