import { WebSocket } from 'ws';
import type { OpenConnection } from '../../src/client/connect/socket_like.js';

/** Opens a socket that is like a browser's socket, without pings of the protocol and without `terminate`. */
export const openBrowserSocket: OpenConnection = (url, headers) =>
  new Proxy(new WebSocket(url, { headers: { ...headers } }), {
    get(socket, name) {
      if (name === 'ping' || name === 'on' || name === 'terminate') return undefined;
      const value: unknown = Reflect.get(socket, name);
      return typeof value === 'function' ? value.bind(socket) : value;
    },
    set: (socket, name, value) => Reflect.set(socket, name, value),
  });
