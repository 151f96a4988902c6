import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { createLink, type Link } from './link.ts';

// Stands between those who talk, and breaks what they say. In front of Postgres, cutting loses answers that it has sent: what
// was committed and what was not looks the same from the other end. (A backend that is terminated still sends the answer
// to what it committed.)

export type FaultProxy = {
  port: number;
  /** The connections that are open now. */
  links(): Link[];
  /** Who is behind it from now on. */
  moveTo(port: number): void;
  /** Answers are swallowed for a while, then every connection breaks. Returns how many. */
  cut(swallowMs: number): Promise<number>;
  stop(): Promise<void>;
};

export const startProxy = async (upstream: { host: string; port: number }): Promise<FaultProxy> => {
  const links = new Set<Link>();
  let { port: behind } = upstream;
  const server = createServer((client) => {
    const link = createLink(client, connect({ host: upstream.host, port: behind }), () => links.delete(link));
    links.add(link);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    links: () => [...links],
    moveTo(port) {
      behind = port;
    },
    async cut(swallowMs) {
      const victims = [...links];
      for (const link of victims) link.swallowAnswers();
      await new Promise((resolve) => setTimeout(resolve, swallowMs));
      for (const link of victims) link.cut();
      return victims.length;
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const link of links) link.cut();
      await closed;
    },
  };
};
