import type { Ground } from '../ground.ts';

// Servers that the hub is measured beside. Each runs in a process of its own, started by main.ts.

export type PeerName = 'plain' | 'stock' | 'raw' | 'raw-commit' | 'a2a-postgres' | 'a2a-memory';

export type Told = { kind: 'open'; peer: PeerName; database: string; ground: Ground };
export type Heard = { kind: 'opened'; url: string } | { kind: 'failed'; message: string };

export type Peer = { url: string; stop(): Promise<void> };
export type OpenPeer = (options: { database: string; ground: Ground }) => Promise<Peer>;
