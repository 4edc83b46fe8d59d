import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { ROOT } from '../pages.js';
import { freePort } from '../proxies/running_proxies.js';
import { boot, cannotBoot } from './booted_systemd.js';

// Tests the files of `tickseal init` in a systemd that is booted for the test.

const PUBLISHER = '0x99e295e85cb07c16b7bb62a44df532a7f2620237';

test('the unit starts, reloads a valid file and refuses an invalid one', {
  skip: cannotBoot(),
}, async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-boot-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const [port, adminPort] = [await freePort(), await freePort()];
  // The program is at another place on this machine, and the test reads the verdict that systemd writes to its journal.
  const programHere = (unit: string) =>
    readFileSync(join(ROOT, unit), 'utf8')
      .replaceAll('/usr/bin/node', process.execPath)
      .replace('[Service]', '[Service]\nStandardError=append:/mnt/out/unit');
  const output = boot({
    dir,
    files: {
      '/etc/systemd/system/tickseal-backup.service': programHere('scripts/deploy/tickseal-backup.service'),
    },
    folders: { '/opt/tickseal': ROOT },
    prepare: `useradd --system --home-dir /etc/tickseal --shell /usr/sbin/nologin tickseal
      ${process.execPath} /opt/tickseal/dist/src/cli/main.js init /etc/tickseal --data /var/lib/tickseal --publisher ${PUBLISHER} --assets BTCUSD --port ${port} --admin-port ${adminPort}
      cd /etc/tickseal && cp tickseal.yaml with_token.yaml && sed -i "/name: reader/d" tickseal.yaml
      sed "s/scopes: . rest, stream ./scopes: [ none ]/" with_token.yaml > invalid.yaml
      sed "/^.Service/a StandardError=append:/mnt/out/unit" tickseal.service > /etc/systemd/system/tickseal.service
      chown -R tickseal: /etc/tickseal /var/lib/tickseal && rm -f /bin/kill /usr/bin/kill`,
    script: `
      ask() { ${process.execPath} -e '
        const token = fs.readFileSync("/etc/tickseal/tokens/reader", "utf8").trim();
        const headers = { Authorization: "Basic " + token };
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
