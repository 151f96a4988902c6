/** What the protocol needs of a socket. Whoever brings another library writes this. */
export type AgentSocket = {
  send(frame: string): void;
  ping(): void;
  close(code: number, reason: string): void;
  /** Stops and goes on reading. Frames that were read already may still come. */
  pause(): void;
  resume(): void;
  /** How many bytes wait to be sent. */
  buffered(): number;
  onMessage(listener: (frame: string) => void): void;
  /** A ping or a pong of the agent. */
  onSign(listener: () => void): void;
};

export const closeReasons = {
  1012: 'restarting',
  4400: 'bad request',
  4401: 'not authenticated',
  4403: 'forbidden',
  4408: 'heartbeat missed',
  4409: 'replaced',
  4413: 'too large',
  4429: 'too many',
} as const;

export type CloseCode = keyof typeof closeReasons;
