import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { StartError } from './core/start-error.ts';

// The front door: which path goes where. It opens before the database is there, so that a taken port is found before
// anything is touched, and answers 503 until `serve` is called.

export type FrontDoor = {
  url: string;
  serve(rooms: Rooms): void;
  /** Takes nothing new, waits for what is in flight, at most this long. */
  close(graceMs: number): Promise<void>;
};

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
type Rooms = {
  graphql: RequestListener;
  /** By path: who speaks WebSocket there. */
  upgrades: Record<string, Upgrade>;
  /** Pages of these origins may open sockets, besides the hub's own. */
  origins: string[];
  ping: () => Promise<void>;
};
type Address = { host: string; port: number };

export const openFrontDoor = async ({ host, port }: Address): Promise<FrontDoor> => {
  let rooms: Parameters<FrontDoor['serve']>[0] | undefined;
  let closing: Promise<void> | undefined;

  const idle = new Set<Socket>(); // connections without a request, also those that never sent one
  const streams = new Set<ServerResponse>(); // answers under way
  const server = createServer((request, response) => {
    const { socket } = request; // a request that is given up before it was read loses it
    idle.delete(socket);
    streams.add(response);
    response.setHeader('x-content-type-options', 'nosniff'); // and Node keeps headers for `getHeader` only after one was set
    response.once('close', () => {
      streams.delete(response);
      if (closing) socket.destroySoon();
      else if (!socket.destroyed) idle.add(socket);
    });
    switch (pathOf(request)) {
      case '/livez':
        return answer(response, 200, { status: 'alive' });
      case '/readyz':
        return void readiness().then((problem) =>
          problem
            ? answer(response, 503, { status: 'not ready', problem })
            : answer(response, 200, { status: 'ready' }),
        );
      case '/graphql':
        return rooms
          ? rooms.graphql(request, response)
          : answer(response, 503, { errors: [{ message: 'The hub is starting.' }] });
      default:
        return answer(response, 404, { error: 'Nothing is here.', try: ['/graphql', '/hub', '/livez', '/readyz'] });
    }
  });

  server.on('upgrade', (request, socket, head) => {
    idle.delete(request.socket);
    const upgrade = rooms?.upgrades[pathOf(request)];
    if (closing || !rooms) refuseUpgrade(socket, '503 Service Unavailable');
    else if (!upgrade) refuseUpgrade(socket, '404 Not Found');
    else if (!isOriginAllowed(request, rooms.origins)) refuseUpgrade(socket, '403 Forbidden');
    else upgrade(request, socket, head);
  });

  server.on('connection', (socket) => {
    idle.add(socket);
    socket.once('close', () => idle.delete(socket));
  });

  const readiness = async (): Promise<string | undefined> => {
    if (!rooms) return 'The hub is starting.';
    return rooms.ping().then(
      () => undefined,
      () => 'The database cannot be reached.',
    );
  };

  await listen(server, { host, port });
  return {
    url: urlOf(server.address() as AddressInfo),
    serve(open) {
      rooms = open;
    },
    close(graceMs) {
      closing ??= new Promise<void>((resolve) => {
        const impatience = setTimeout(() => server.closeAllConnections(), graceMs);
        // An event stream that ended would say that its task did: it is cut, and its client comes back.
        const cut = (): void => {
          for (const response of streams)
            if (String(response.getHeader('content-type')).includes('text/event-stream')) response.socket?.destroy();
        };
        const cutting = setInterval(cut, 100); // also those whose beginning was still under way
        server.close(() => {
          clearTimeout(impatience);
          clearInterval(cutting);
          resolve();
        });
        for (const socket of idle) socket.destroy();
        cut();
      });
      return closing;
    },
  };
};

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

/** Programs send no Origin; pages do, and only those of the hub itself or of the list may speak to it. */
const isOriginAllowed = ({ headers: { origin, host } }: IncomingMessage, allowed: string[]): boolean =>
  origin === undefined || allowed.includes(origin) || (URL.canParse(origin) && new URL(origin).host === host);

const refuseUpgrade = (socket: Duplex, status: string): void => {
  socket.on('error', () => undefined); // it may be gone already
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
};

const listen = async (server: ReturnType<typeof createServer>, { host, port }: Address): Promise<void> => {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    throw explain(cause as NodeJS.ErrnoException, { host, port });
  }
};

const explain = (cause: NodeJS.ErrnoException, { host, port }: Address): StartError => {
  switch (cause.code) {
    case 'EADDRINUSE':
      return new StartError(
        `Port ${port} on ${host} is taken by another program.`,
        'Stop that program, or set PORT to another port.',
        { cause },
      );
    case 'EACCES':
      return new StartError(
        `Port ${port} on ${host} needs more rights than this user has.`,
        'Set PORT to one above 1023.',
        { cause },
      );
    default:
      return new StartError(
        `Cannot listen on ${host}:${port}: ${cause.message}.`,
        'Set HOST to an address of this machine.',
        { cause },
      );
  }
};

const urlOf = ({ address, family, port }: AddressInfo): string => {
  const everywhere = address === '0.0.0.0' || address === '::';
  return `http://${everywhere ? 'localhost' : family === 'IPv6' ? `[${address}]` : address}:${port}`;
};

const answer = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    ...(status === 503 && { 'retry-after': '1' }),
  });
  response.end(`${JSON.stringify(body)}\n`);
};
