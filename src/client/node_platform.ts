import { WebSocket } from 'ws';
import { BROWSER, type Platform } from './platform.js';

/** Node, whose sockets log in with the header. */
export const NODE: Platform = {
  ...BROWSER,
  openSocket: (url, headers, protocols = []) =>
    new WebSocket(url, [...protocols], { headers: { ...headers } }),
  sendsHeaders: true,
  openWorker: undefined,
};
