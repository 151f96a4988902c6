import { type DestinationStream, type Logger, pino } from 'pino';
import pretty from 'pino-pretty';

// Logs go to stderr: JSON for machines, lines for a person at a terminal. Standard output is for what a person asked for.
export const createLog = (level: string): Logger => pino({ level, base: null }, destination());

const destination = (): DestinationStream =>
  process.stderr.isTTY
    ? pretty({ destination: 2, sync: true, translateTime: 'SYS:HH:MM:ss.l' })
    : pino.destination({ dest: 2, sync: true });
