import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { ROOT } from '../pages.js';
import { freePort } from '../proxies/running_proxies.js';
import { boot, cannotBoot } from './booted_systemd.js';

// Tests the shipped unit in a systemd that is booted for the test.

const TOKEN = 'token-of-the-booted-service';

test('the unit starts, reloads a valid file and refuses an invalid one', {
  skip: cannotBoot(),
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-boot-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const [port, adminPort] = [await freePort(), await freePort()];
  const sha256 = createHash('sha256').update(TOKEN).digest('hex');
  const config = {
    listen: { port },
    admin: { port: adminPort },
    keys: { evm: { file: '/run/credentials/tickseal.service/evm.hex' } },
    assets: [{ id: 1, symbol: 'BTCUSD' }],
    publishers: [{ key: '0x99e295e85cb07c16b7bb62a44df532a7f2620237' }],
    storage: { dir: '/var/lib/tickseal' },
  };
  const tokens = [{ name: 'all', sha256, scopes: ['rest'] }];
  // The program is at another place on this machine, and the test reads the verdict that systemd writes to its journal.
  const programHere = (unit: string) =>
    readFileSync(join(ROOT, unit), 'utf8')
      .replaceAll('/usr/bin/node', process.execPath)
      .replace('[Service]', '[Service]\nStandardError=append:/mnt/out/unit');
  const unit = programHere('scripts/deploy/tickseal.service');
  const output = boot({
    dir,
    files: {
      '/etc/systemd/system/tickseal.service': unit,
      '/etc/systemd/system/tickseal-backup.service': programHere('scripts/deploy/tickseal-backup.service'),
      '/etc/tickseal/tickseal.yaml': JSON.stringify(config),
      '/etc/tickseal/with_token.yaml': JSON.stringify({ ...config, tokens }),
      '/etc/tickseal/invalid.yaml': JSON.stringify({
        ...config,
        tokens: [{ ...tokens[0], scopes: ['none'] }],
      }),
      '/etc/tickseal/keys/evm.hex': '11'.repeat(32),
      '/etc/tickseal/keys/stark.hex': `0${'1'.repeat(63)}`,
    },
    folders: { '/opt/tickseal': ROOT },
    prepare: `useradd --system --home-dir /var/lib/tickseal --shell /usr/sbin/nologin tickseal
      chmod 0700 /etc/tickseal/keys && chmod 0600 /etc/tickseal/keys/* && rm -f /bin/kill /usr/bin/kill`,
    script: `
      ask() { ${process.execPath} -e '
        const headers = { Authorization: "Basic ${TOKEN}" };
        fetch(process.argv[1], { headers }).then(({ status }) => console.log(process.argv[2], status), () => console.log(process.argv[2], "none"))
      ' "$1" "$2"; }
      use() { cp /etc/tickseal/$1.yaml /etc/tickseal/tickseal.yaml; systemctl reload tickseal; echo "reload of $1: $?"; }
      systemctl start tickseal; echo "start: $?"
      for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
        case "$(ask http://127.0.0.1:${adminPort}/readyz ready)" in *200) break;; esac; sleep 1
      done
      ask http://127.0.0.1:${port}/v1/taxonomy "before"
      use with_token; ask http://127.0.0.1:${port}/v1/taxonomy "with the token"
      use invalid; ask http://127.0.0.1:${port}/v1/taxonomy "after the invalid file"
      cp /etc/tickseal/with_token.yaml /etc/tickseal/tickseal.yaml; systemctl reload tickseal; echo "again: $?"
      systemctl start tickseal-backup; echo "backup: $?"; ls -d /var/lib/tickseal-backup/*/*
      systemctl is-active tickseal; systemctl stop tickseal; echo "stop: $?"; cat /mnt/out/unit`,
  });
  t.match(output, /^start: 0$/m);
  t.match(output, /^before 401$/m);
  t.match(output, /^reload of with_token: 0$/m);
  t.match(output, /^with the token 200$/m);
  t.match(output, /^reload of invalid: 1$/m);
  t.match(output, /^after the invalid file 200$/m);
  t.match(output, /^again: 0$/m);
  t.match(output, /^backup: 0\n\/var\/lib\/tickseal-backup\/\S+\/\S+$/m);
  t.match(output, /^active$/m);
  t.match(output, /^stop: 0$/m);
  t.match(output, /tickseal\.yaml:\d+:\d+ tokens\[0\]\.scopes\[0\]: /);
});
