import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'tap';

/** What a browser can load: these packages, and the part of the model that touches no Buffer at run time. */
const ALLOWED =
  /^(?:\.\/[a-z_]+\.js|\.\.\/model\/(?:asset|price|time)\.js|lossless-json|@noble\/(?:secp256k1|hashes\/[a-z0-9]+\.js)|@scure\/starknet)$/;

test('the client runs in a browser', async (t) => {
  for (const file of readdirSync('src/client')) {
    const source = readFileSync(`src/client/${file}`, 'utf8');
    for (const [, module] of source.matchAll(/from '([^']+)'/g))
      t.match(module, ALLOWED, `${file} imports ${module}`);
    const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    t.notMatch(code, /\b(?:Buffer|process|require|setImmediate)\b/, file);
  }
});
