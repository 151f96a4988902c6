import type { AgentSocket } from './agent-socket.ts';

// Any frame, ping or pong is a sign of life. The hub asks for one three times per heartbeat.

export type Heartbeat = {
  sign(): void;
  isMissed(): boolean;
  /** Pings when it is time to. */
  beat(): void;
};

type Options = { socket: Pick<AgentSocket, 'ping' | 'onSign'>; now: () => number; heartbeatSeconds: number };

export const createHeartbeat = ({ socket, now, heartbeatSeconds }: Options): Heartbeat => {
  let seenMs = now();
  let pingedMs = now();
  const sign = (): void => {
    seenMs = now();
  };
  socket.onSign(sign);
  return {
    sign,
    isMissed: () => now() - seenMs >= heartbeatSeconds * 1_000,
    beat() {
      if (now() - pingedMs < (heartbeatSeconds * 1_000) / 3) return;
      pingedMs = now();
      socket.ping();
    },
  };
};
