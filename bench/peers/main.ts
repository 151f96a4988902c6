import { openA2aInMemory, openA2aOnPostgres } from './a2a.ts';
import { openPlain, openStock } from './plain.ts';
import { openRaw, openRawWithCommit } from './raw.ts';
import type { Heard, OpenPeer, Peer, PeerName, Told } from './told.ts';

const peers: Record<PeerName, OpenPeer> = {
  plain: openPlain,
  stock: openStock,
  raw: openRaw,
  'raw-commit': openRawWithCommit,
  'a2a-postgres': openA2aOnPostgres,
  'a2a-memory': openA2aInMemory,
};

let peer: Peer | undefined;
const say = (message: Heard) => void process.send?.(message);

process.on('message', ({ peer: name, ...options }: Told) => {
  peers[name](options).then(
    (opened) => {
      peer = opened;
      say({ kind: 'opened', url: opened.url });
    },
    (error: Error) => say({ kind: 'failed', message: error.stack ?? error.message }),
  );
});
process.on('disconnect', () => void peer?.stop().finally(() => process.exit(0)));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined); // whoever started us decides
