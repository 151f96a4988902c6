import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { type AgentSocket, closeReasons } from './agent-socket.ts';
import type { Hub } from './hub.ts';

// The only file that knows the socket library.

export type AgentDoor = {
  /** `token`: what the address carried; else the Authorization header counts. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, token?: string): void;
  /** Cuts what is still open. The hub has said good-bye before. */
  close(): void;
};

const mostBytes = 1_048_576; // of a frame
const mostRead = 4 * mostBytes; // beyond that the library itself closes, with 1009, before it has read it all

export const createAgentDoor = ({ opened }: Pick<Hub, 'opened'>): AgentDoor => {
  const server = new WebSocketServer({ noServer: true, maxPayload: mostRead, perMessageDeflate: false });
  return {
    upgrade(request, socket, head, token = bearer(request)) {
      server.handleUpgrade(request, socket, head, (ws) => {
        const closed = opened(adapt(ws), token === undefined ? {} : { token });
        ws.once('close', closed);
        ws.on('error', () => undefined); // a close follows
      });
    },
    close() {
      for (const ws of server.clients) ws.terminate();
      server.close();
    },
  };
};

const adapt = (ws: WebSocket): AgentSocket => ({
  send: (frame) => ws.send(frame),
  ping: () => ws.ping(),
  close: (code, reason) => ws.close(code, reason),
  pause: () => ws.pause(),
  resume: () => ws.resume(),
  buffered: () => ws.bufferedAmount,
  onMessage: (listener) =>
    ws.on('message', (data: Buffer, isBinary) => {
      if (ws.readyState !== ws.OPEN) return; // what came behind a frame that was too large
      if (data.length <= mostBytes)
        listener(isBinary ? '' : data.toString()); // no frame of ours: answered as a bad one
      else ws.close(4413, closeReasons[4413]);
    }),
  onSign: (listener) => ws.on('ping', listener).on('pong', listener),
});

const bearer = ({ headers }: IncomingMessage): string | undefined =>
  headers.authorization?.match(/^bearer +(\S+) *$/i)?.[1];
