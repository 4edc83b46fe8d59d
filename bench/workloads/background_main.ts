import { TOKEN } from '../../scripts/load/config.js';
import { clientFrame, openFrameSocket } from '../../scripts/load/frame_socket.js';
import { Updates } from '../../scripts/load/updates.js';
import { pause } from '../../scripts/load/wait.js';
import { UPDATES_PER_MESSAGE } from './background.js';

// `background_main.js PORT PATH RATE SECONDS`: a publisher in a separate process. The publisher reports its start, and sends
// RATE updates a second.

const [port, path = '', rate, seconds] = process.argv.slice(2);
const updates = new Updates('evm');
const assets = Array.from({ length: UPDATES_PER_MESSAGE }, (_, i) => 1 + i);
const messagesPerMs = Number(rate) / UPDATES_PER_MESSAGE / 1_000;
const messages = Array.from({ length: Math.ceil(messagesPerMs * Number(seconds) * 1_000) }, () =>
  clientFrame(updates.message(1, assets)),
);
const socket = await openFrameSocket({ port: Number(port), path, token: TOKEN, onFrame: () => {} });
process.once('disconnect', () => process.exit());
process.send!('begun');
const startMs = performance.now();
for (let sent = 0; sent < messages.length; ) {
  const due = Math.min(messages.length, Math.floor((performance.now() - startMs) * messagesPerMs));
  for (; sent < due; sent++) socket.write(messages[sent]!);
  await pause(1);
}
