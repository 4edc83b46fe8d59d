import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'tap';

/** What a browser can load: these packages, what is said of the wire, and the part of the model that touches no Buffer. */
const ALLOWED =
  /^(?:\.\/[a-z_]+\.js|\.\.\/model\/(?:asset|price|time)\.js|\.\.\/wire\/[a-z_]+\.js|lossless-json|@noble\/(?:secp256k1|hashes\/[a-z0-9]+\.js)|@scure\/starknet)$/;

test('the client runs in a browser', async (t) => {
  const files = ['client', 'wire'].flatMap((room) =>
    readdirSync(`src/${room}`)
      .filter((file) => file.endsWith('.ts'))
      .map((file) => `src/${room}/${file}`),
  );
  for (const file of files) {
    const source = readFileSync(file, 'utf8');
    for (const [, module] of source.matchAll(/from '([^']+)'/g))
      t.match(module, ALLOWED, `${file} imports ${module}`);
    const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
    t.notMatch(code, /\b(?:Buffer|process|require|setImmediate)\b/, file);
  }
});
