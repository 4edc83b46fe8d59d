import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isInstalled } from './prometheus.js';

const SYSTEMD = '/lib/systemd/systemd';
const BOOT_MS_MAX = 120_000;
/** The devices of a container. */
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];

/** The folder in which this machine's own systemd, or its container, has its control groups; empty without one. */
const GROUPS =
  ['/sys/fs/cgroup/systemd', '/sys/fs/cgroup'].find((dir) => existsSync(join(dir, 'cgroup.procs'))) ?? '';

/** Returns the reason why a test cannot boot a systemd; `false` if it can. */
export function cannotBoot(): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'only root of a Linux can boot a systemd';
  if (!existsSync(SYSTEMD) || !isInstalled('unshare')) return 'there is no systemd, or no unshare';
  if (GROUPS === '') return 'there are no control groups for a systemd';
  const probe = `mkdir ${GROUPS}/${groupName()} && rmdir ${GROUPS}/${groupName()} && mount -t tmpfs t /mnt &&
    mkdir /mnt/u /mnt/w /mnt/m && mount -t overlay o -o lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w /mnt/m`;
  const { status } = spawnSync('unshare', ['--mount', '--pid', '--fork', 'sh', '-c', probe], {
    stdio: 'ignore',
  });
  return status === 0 ? false : 'this root may not mount an overlay, or make control groups';
}

/** The control group of the booted system. */
function groupName(): string {
  return `tickseal-test-${process.pid}`;
}

export interface BootOptions {
  /** An empty folder. */
  readonly dir: string;
  /** Files of the booted system, by path. Keys are closed to others. */
  readonly files: Readonly<Record<string, string>>;
  /** Folders that the booted system sees at another path, read-only. */
  readonly folders: Readonly<Record<string, string>>;
  /** Commands of a shell that prepare the files, in the booted system before it boots. */
  readonly prepare: string;
  /** Commands of a shell that run in the booted system. */
  readonly script: string;
}

/**
 * Boots a systemd on a copy of this machine's files, runs a script in it and ends it. The machine itself stays as it is; its network is
 * shared.
 * @returns what the script printed
 */
export function boot({ dir, files, folders, prepare, script }: BootOptions): string {
  const put = Object.entries(files).map(([path, text], i) => {
    writeFileSync(join(dir, `file${i}`), text);
    return `mkdir -p "$R$(dirname ${path})" && cp ${dir}/file${i} "$R${path}"`;
  });
  const bind = Object.entries(folders).map(
    ([path, source]) => `mkdir -p "$R${path}" && mount --rbind ${source} "$R${path}"`,
  );
  mkdirSync(join(dir, 'out'));
  writeFileSync(join(dir, 'script.sh'), script);
  const setUp = join(dir, 'set_up.sh');
  writeFileSync(
    setUp,
    `set -e
    mount --make-rprivate /
    mkdir -p ${dir}/root && mount -t tmpfs root ${dir}/root && mkdir ${dir}/root/u ${dir}/root/w ${dir}/root/m
    mount -t overlay root -o lowerdir=/,upperdir=${dir}/root/u,workdir=${dir}/root/w ${dir}/root/m
    R=${dir}/root/m
    mount -t proc proc $R/proc && mount --bind /sys $R/sys
    # A systemd changes the mount of its control groups, so it gets its own.
    if test ${GROUPS} = /sys/fs/cgroup; then mount -t cgroup2 groups $R/sys/fs/cgroup; else
      mount -t tmpfs groups $R/sys/fs/cgroup && mkdir $R/sys/fs/cgroup/systemd
      mount -t cgroup -o none,name=systemd systemd $R/sys/fs/cgroup/systemd
    fi
    for folder in run tmp dev var/lib; do mount -t tmpfs $folder $R/$folder; done
    for device in ${DEVICES.join(' ')}; do touch $R/dev/$device && mount --bind /dev/$device $R/dev/$device; done
    touch $R/dev/console && mount --bind /dev/null $R/dev/console && mkdir $R/dev/shm $R/dev/pts $R/dev/mqueue
    mount -t devpts pts $R/dev/pts -o newinstance,ptmxmode=0666 && ln -s pts/ptmx $R/dev/ptmx
    # Nothing of this machine's own services starts.
    rm -rf $R/etc/systemd/system/*.wants $R/lib/systemd/system/*.wants $R/etc/systemd/system-generators
    : > $R/etc/fstab; echo 0123456789abcdef0123456789abcdef > $R/etc/machine-id
    ${put.join('\n')}
    ${bind.join('\n')}
    mkdir -p $R/mnt && mount --bind ${dir} $R/mnt
    cat > $R/etc/systemd/system/script.service <<END
[Service]
Type=oneshot
ExecStart=/bin/sh /mnt/script.sh
ExecStopPost=/bin/systemctl exit
StandardOutput=append:/mnt/out/script
StandardError=append:/mnt/out/script
END
    chroot $R sh -c '${prepare}'
    export container=other
    # A unit's own mounts need a root that is one.
    cd $R && mkdir -p old_root && pivot_root . old_root && umount -l /old_root
    # Credentials reach a unit through shared mounts, which a systemd in a container does not make itself.
    chroot . mount --make-rshared /
    exec chroot . ${SYSTEMD} --system --unit=script.service --log-target=null
    `,
  );
  chmodSync(dir, 0o755);
  const args = ['--mount', '--pid', '--uts', '--ipc', '--cgroup', '--fork', '--kill-child', 'sh', setUp];
  const { stderr } = spawnSync('unshare', args, {
    encoding: 'utf8',
    timeout: BOOT_MS_MAX,
    killSignal: 'SIGKILL',
  });
  const output = join(dir, 'out/script');
  return existsSync(output) ? readFileSync(output, 'utf8') : `the system did not boot: ${stderr}`;
}
