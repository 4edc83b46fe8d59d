import { existsSync } from 'node:fs';
import { test } from 'tap';

test('a folder is removed after the teardowns of its test', async (t) => {
  let wasThere: boolean | undefined;
  await t.test('a test with a folder', async (one) => {
    const dir = one.testdir({ file: '' });
    one.teardown(() => {
      wasThere = existsSync(dir);
    });
    one.ok(existsSync(dir));
  });
  t.equal(wasThere, true);
});
