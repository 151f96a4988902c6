import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';
import { type WebSocket, WebSocketServer } from 'ws';
import { createAgentHub } from './agent-hub.ts';
import { listen } from './listen.ts';
import type { OpenPeer, Peer } from './told.ts';

// The floor: a relay on bare `ws` that knows no rules, no types and nobody. An agent's chunk is cut out of its frame and sent
// to everybody who follows the task, one buffer for all.

export const openRaw: OpenPeer = () => openRelay(async () => undefined);

/** The same, and each task and each chunk is one commit of one row first. */
export const openRawWithCommit: OpenPeer = async ({ database }) => {
  const client = new pg.Client(database);
  client.on('error', () => undefined); // the statement under way tells it
  await client.connect();
  await client.query(
    'create table if not exists floor (id bigserial primary key, task uuid not null, payload text not null)',
  );
  const insert = { name: 'insert', text: 'insert into floor (task, payload) values ($1, $2)' };
  const relay = await openRelay(
    async (task, payload) => void (await client.query({ ...insert, values: [task, payload] })),
  );
  return { ...relay, stop: () => client.end() };
};

type Task = { followers: Set<WebSocket>; frames: Buffer[] };

const idMark = Buffer.from('"task_id":"');
const textMark = Buffer.from('"text":"');
const ended = Buffer.from('{"id":"1","type":"complete"}');

const openRelay = async (commit: (task: string, payload: string) => Promise<void>): Promise<Peer> => {
  const tasks = new Map<string, Task>();
  const hub = createAgentHub((report) => {
    const idAt = report.indexOf(idMark) + idMark.length;
    const id = report.toString('latin1', idAt, idAt + 36);
    const textAt = report.indexOf(textMark);
    const isEnd = textAt < 0;
    const text = isEnd
      ? ''
      : report.toString('latin1', textAt + textMark.length, report.indexOf('"', textAt + textMark.length));
    void commit(id, text).then(() => tell(id, isEnd ? ended : chunk(text)));
  });
  const tell = (id: string, frame: Buffer): void => {
    const task = tasks.get(id);
    task?.frames.push(frame);
    for (const follower of task?.followers ?? []) follower.send(frame, asText);
  };

  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => {
      body += piece;
    });
    request.on('end', async () => {
      const { agent, contextId } = JSON.parse(body).variables.input;
      const id = randomUUID();
      tasks.set(id, { followers: new Set(), frames: [] });
      await commit(id, 'hello');
      hub.execute(agent, { id, context: contextId });
      response.setHeader('content-type', 'application/json').end(`{"data":{"sendMessage":{"id":"${id}"}}}`);
    });
  });
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  sockets.on('connection', (socket) => {
    let following: Task | undefined;
    socket.on('message', (data: Buffer) => {
      const { type, payload } = JSON.parse(data.toString());
      if (type === 'connection_init') return socket.send('{"type":"connection_ack"}');
      following?.followers.delete(socket);
      following = tasks.get(payload.variables.id);
      following?.followers.add(socket);
      for (const frame of following?.frames ?? []) socket.send(frame, asText);
    });
  });
  server.on('upgrade', (request, socket, head) => {
    const to = request.url === '/hub' ? hub.server : sockets;
    to.handleUpgrade(request, socket, head, (client) => to.emit('connection', client, request));
  });
  return { url: await listen(server), stop: async () => undefined };
};

const asText = { binary: false };

const chunk = (text: string): Buffer =>
  Buffer.from(`{"id":"1","type":"next","payload":{"data":{"taskEvents":{"seq":1,"parts":[{"text":"${text}"}]}}}}`);
