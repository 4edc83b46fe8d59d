import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the program. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

/** Returns a file of scripts/deploy. */
export function deployFile(name: string): string {
  return readFileSync(join(ROOT, 'scripts/deploy', name), 'utf8');
}

/** The places that a unit of this host names instead of those of scripts/deploy. */
export interface UnitPlaces {
  /** The program of Node. */
  readonly node: string;
  /** The folder of tickseal. */
  readonly root: string;
  /** The folder with the configuration and the keys. */
  readonly dir: string;
  readonly dataDir: string;
  /** The owner of both folders. */
  readonly user: string;
}

/** The folders that `ProtectHome=yes` hides. */
const HOMES = /^\/(?:home|root|run\/user)(?:\/|$)/;

/** Returns a unit of scripts/deploy for this host. */
export function unitText(name: string, { node, root, dir, dataDir, user }: UnitPlaces): string {
  const isInHome = [node, root, dir, dataDir].some((path) => HOMES.test(path));
  return deployFile(name)
    .replaceAll('/etc/tickseal', dir)
    .replace(/^ReadWritePaths=\/var\/lib\/tickseal$/m, `ReadWritePaths=${dataDir}`)
    .replaceAll('/opt/tickseal', root)
    .replaceAll('/usr/bin/node', node)
    .replace(/^User=tickseal$/m, `User=${user}`)
    .replace(/^ProtectHome=yes$/m, `ProtectHome=${isInHome ? 'read-only' : 'yes'}`);
}
