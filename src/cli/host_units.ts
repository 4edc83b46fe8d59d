import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the program. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

/** Returns a file of scripts/deploy. */
export function deployFile(name: string): string {
  return readFileSync(join(ROOT, 'scripts/deploy', name), 'utf8');
}

/** The paths that a unit of this host names instead of those of scripts/deploy. */
export interface UnitPaths {
  /** The program of Node. */
  readonly node: string;
  /** The folder of tickseal. */
  readonly root: string;
  /** The folder with the configuration. */
  readonly dir: string;
}

/** The folders that `ProtectHome=yes` hides. */
const HOMES = /^\/(?:home|root|run\/user)(?:\/|$)/;

/**
 * Returns the unit of the service of this host, whose keys and data are in the folder of its configuration.
 * @param user the owner of the folder
 */
export function serviceUnitText(paths: UnitPaths, user: string): string {
  const text = deployFile('tickseal.service')
    .replace(/^# The private keys, .*\n(?:LoadCredential=.*\n)+\n/m, '')
    .replace(
      /^# The data folder is .*\nStateDirectory=.*\nStateDirectoryMode=.*\n/m,
      `# The data folder. Only this user can read it.\nReadWritePaths=${paths.dir}/data\n`,
    )
    .replace(/^(User|Group)=tickseal$/gm, (_, name) => (name === 'User' ? `User=${user}` : ''))
    .replace(/^\n(?=WorkingDirectory)/m, '');
  return here(text, paths);
}

/**
 * Returns the unit of the publisher of real prices of this host. Its user differs from that of the service, so it receives its files
 * as credentials.
 */
export function sourcesUnitText(paths: UnitPaths): string {
  const text = deployFile('tickseal-sources.service')
    .replace('--from /etc/tickseal/sources.yaml', '--from %d/sources.yaml')
    .replace(
      /^LoadCredential=publisher\.hex:.*\n/m,
      `$&LoadCredential=sources.yaml:/etc/tickseal/sources.yaml\n`,
    );
  return here(text, paths);
}

/** Replaces the paths of scripts/deploy. */
function here(text: string, { node, root, dir }: UnitPaths): string {
  const isInHome = [node, root, dir].some((path) => HOMES.test(path));
  return text
    .replaceAll('/etc/tickseal', dir)
    .replaceAll('/opt/tickseal', root)
    .replaceAll('/usr/bin/node', node)
    .replace(/^ProtectHome=yes$/m, `ProtectHome=${isInHome ? 'read-only' : 'yes'}`);
}
