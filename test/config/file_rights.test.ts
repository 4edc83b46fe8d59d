import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { loadConfig } from '../../src/config/load.js';

/** Writes a configuration whose data folder is `data`. */
function configIn(dir: string): string {
  const file = join(dir, 'config.yaml');
  writeFileSync(join(dir, 'evm.hex'), '11'.repeat(32), { mode: 0o600 });
  writeFileSync(file, 'keys: { evm: { file: evm.hex } }\nstorage: { dir: data }\n', { mode: 0o644 });
  return file;
}

const errorsOf = (file: string) => {
  const loaded = loadConfig(file, {});
  return loaded.ok ? [] : loaded.errors;
};

test('a configuration that others may change is refused', async (t) => {
  const file = configIn(t.testdir());
  t.same(errorsOf(file), []);
  for (const mode of [0o664, 0o602]) {
    chmodSync(file, mode);
    const reason = `may be changed by its group or by others (mode 0${mode.toString(8)}); chmod go-w it`;
    t.same(errorsOf(file), [`${file}: ${reason}`]);
  }
});

test('a data folder that others may change, or a link to one, is refused', async (t) => {
  const dir = t.testdir();
  const file = configIn(dir);
  const data = join(dir, 'data');
  mkdirSync(data, { mode: 0o755 });
  t.same(errorsOf(file), []);
  chmodSync(data, 0o1777);
  t.match(errorsOf(file), [/config\.yaml:2:12 storage\.dir: the data folder .* \(mode 1777\)/]);
  const linked = t.testdir({ linked: {} });
  configIn(linked);
  chmodSync(join(linked, 'linked'), 0o770);
  symlinkSync(join(linked, 'linked'), join(linked, 'data'));
  t.match(errorsOf(join(linked, 'config.yaml')), [/\(mode 0770\)/]);
});
