import type { AgentSocket } from './agent-socket.ts';

// Frames are handled in order. Almost all of them at once; behind one that has to wait the others queue up, and the socket
// is not read until they are through.

export type Line = {
  /** Something waits, so silence says nothing about the agent. */
  isWaiting(): boolean;
  take(frame: string): void;
};

type Options = {
  socket: Pick<AgentSocket, 'pause' | 'resume'>;
  /** Undefined: it was handled. Else the next one waits. Never rejects. */
  handle: (frame: string) => Promise<void> | undefined;
};

export const createLine = ({ socket, handle }: Options): Line => {
  let backlog: string[] = []; // what the socket had read before it was paused
  let isWaiting = false;
  let isPaused = false;

  const run = (frame: string): void => {
    const waiting = handle(frame);
    if (!waiting) return;
    isWaiting = true;
    void waiting.then(goOn);
  };

  const goOn = (): void => {
    isWaiting = false;
    const frames = backlog;
    backlog = [];
    let next = 0;
    while (next < frames.length && !isWaiting) run(frames[next++] ?? '');
    backlog = [...frames.slice(next), ...backlog];
    if (isWaiting || !isPaused) return;
    isPaused = false;
    socket.resume();
  };

  return {
    isWaiting: () => isWaiting,
    take(frame) {
      if (!isWaiting) return run(frame);
      backlog.push(frame);
      if (isPaused) return;
      isPaused = true;
      socket.pause();
    },
  };
};
