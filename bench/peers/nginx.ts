import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startProgram } from '../../scripts/load/server_process.js';
import type { StartedPeer } from './compiled.js';

const READY_MS_MAX = 10_000;

/**
 * The settings of nginx. `debian` opens the file for every request and writes a log line, as in Debian's configuration. `tuned`
 * keeps the file open and writes no log.
 */
export type NginxSetting = 'debian' | 'tuned';

const SETTINGS: Readonly<Record<NginxSetting, (dir: string) => string>> = {
  debian: (dir) => `access_log ${dir}/access.log;`,
  tuned: () => 'access_log off; open_file_cache max=16 inactive=1h;',
};

/**
 * Starts nginx in one process. The process answers every request with one file.
 * @param dir a temporary folder for nginx's own files
 * @param file a file in that folder
 */
export async function startNginx(dir: string, file: string, setting: NginxSetting): Promise<StartedPeer> {
  if (spawnSync('nginx', ['-v'], { stdio: 'ignore' }).status !== 0) return { missing: 'it needs nginx' };
  const port = await freePort();
  const configuration = join(dir, 'nginx.conf');
  writeFileSync(configuration, configurationText(dir, file, port, setting));
  const server = await startProgram(
    ['nginx', '-p', dir, '-e', join(dir, 'nginx.log'), '-c', configuration],
    port,
  );
  const endMs = performance.now() + READY_MS_MAX;
  while (!(await listens(port))) {
    if (performance.now() > endMs) throw new Error('nginx does not listen');
    await setTimeout(20);
  }
  return server;
}

function configurationText(dir: string, file: string, port: number, setting: NginxSetting): string {
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${dir}/nginx_${name};`,
  );
  return `
daemon off;
master_process off;
pid ${dir}/nginx.pid;
events { worker_connections 1024; }
http {
  ${folders.join('\n  ')}
  ${SETTINGS[setting](dir)}
  default_type application/json;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  server {
    listen 127.0.0.1:${port};
    location / {
      root ${dir};
      try_files "/${file}" =404;
    }
  }
}
`;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
