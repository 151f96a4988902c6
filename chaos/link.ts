import type { Socket } from 'node:net';
import { createFrames } from './frames.ts';

// One connection through the proxy, with all that can happen to it. What is broken stays broken: the ends find out and
// connect anew.

export type Link = {
  /** An agent's socket. */
  isAgent(): boolean;
  isWhole(): boolean;
  cut(): void;
  /** The server's answers are lost, what it is told arrives. */
  swallowAnswers(): void;
  /** Both ends believe that they are connected; nothing arrives any more, not even that the other has gone. */
  halfOpen(): void;
  /** Everything takes this much longer. */
  delay(ms: number): void;
  /** Every text frame of the agent arrives twice. */
  double(): void;
  /** The client's end breaks; what it said in its last moments reaches the server when it is long connected elsewhere. */
  late(lastMomentsMs: number, lateMs: number): void;
};

export const createLink = (client: Socket, server: Socket, onEnd: () => void): Link => {
  let mode: 'whole' | 'swallowing' | 'half-open' | 'late' = 'whole';
  let delayMs = 0;
  let isDoubled = false;
  const withheld: Buffer[] = [];
  const frames = createFrames();

  const cut = (): void => {
    client.destroy();
    server.destroy();
    onEnd();
  };
  for (const socket of [client, server]) socket.setNoDelay().on('error', () => undefined);
  server.on('close', cut);
  client.on('close', () => {
    if (mode === 'whole' || mode === 'swallowing') cut();
  });

  /** In order, also when some of it is late. */
  const pass = (from: Socket, to: Socket, take: (data: Buffer) => Buffer[]): void => {
    let waiting = 0;
    const write = (bytes: Buffer): void => {
      if (!to.destroyed && !to.write(bytes)) from.pause();
    };
    from.on('data', (data) => {
      for (const bytes of take(data)) {
        if (delayMs === 0 && waiting === 0) write(bytes);
        else {
          waiting += 1;
          setTimeout(() => {
            waiting -= 1;
            write(bytes);
          }, delayMs).unref();
        }
      }
    });
    to.on('drain', () => from.resume());
  };
  pass(client, server, (data) => {
    if (mode === 'half-open') return [];
    const units = frames.read(data).flatMap(({ bytes, isText }) => (isDoubled && isText ? [bytes, bytes] : [bytes]));
    if (mode !== 'late') return units;
    withheld.push(...units);
    return [];
  });
  pass(server, client, (data) => (mode === 'whole' || mode === 'late' ? [data] : []));

  return {
    isAgent: frames.isAgent,
    isWhole: () => mode === 'whole' && !client.destroyed,
    cut,
    swallowAnswers() {
      mode = 'swallowing';
    },
    halfOpen() {
      mode = 'half-open';
    },
    delay(ms) {
      delayMs = ms;
    },
    double() {
      isDoubled = true;
    },
    late(lastMomentsMs, lateMs) {
      mode = 'late';
      setTimeout(() => client.destroy(), lastMomentsMs).unref();
      setTimeout(() => {
        if (!server.destroyed) server.end(Buffer.concat(withheld));
      }, lastMomentsMs + lateMs).unref();
    },
  };
};
