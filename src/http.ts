import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { StartError } from './core/start-error.ts';

// The front door: which path goes where. It opens before the database is there, so that a taken port is found before
// anything is touched, and answers 503 until `serve` is called.

export type FrontDoor = {
  url: string;
  serve(rooms: { graphql: RequestListener; ping: () => Promise<void> }): void;
  /** Takes nothing new, waits for what is in flight, at most this long. */
  close(graceMs: number): Promise<void>;
};

type Address = { host: string; port: number };

export const openFrontDoor = async ({ host, port }: Address): Promise<FrontDoor> => {
  let rooms: Parameters<FrontDoor['serve']>[0] | undefined;
  let closing: Promise<void> | undefined;

  const idle = new Set<Socket>(); // connections without a request, also those that never sent one
  const server = createServer((request, response) => {
    idle.delete(request.socket);
    response.once('close', () => {
      if (closing) request.socket.destroySoon();
      else if (!request.socket.destroyed) idle.add(request.socket);
    });
    switch (request.url?.split('?', 1)[0]) {
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
        return answer(response, 404, { error: 'Nothing is here.', try: ['/graphql', '/livez', '/readyz'] });
    }
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
        server.close(() => {
          clearTimeout(impatience);
          resolve();
        });
        for (const socket of idle) socket.destroy();
      });
      return closing;
    },
  };
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
