import type { Pass } from '../core/actor.ts';

// Who was let in stays in only while the key holds: long connections are looked at again and again.

export type OpenPasses = {
  /** Calls back once when the pass no longer holds; returns how to stop watching. */
  watch(pass: Pass, onEnded: () => void): () => void;
  /** Called every second. */
  patrol(): Promise<void>;
};

export const createOpenPasses = (findEnded: (passes: Pass[]) => Promise<Pass[]>): OpenPasses => {
  const open = new Map<Pass, Set<() => void>>();
  return {
    watch(pass, onEnded) {
      const watching = open.get(pass) ?? new Set();
      open.set(pass, watching.add(onEnded));
      return () => {
        watching.delete(onEnded);
        if (watching.size === 0) open.delete(pass);
      };
    },
    async patrol() {
      if (open.size === 0) return;
      for (const pass of await findEnded([...open.keys()])) {
        const watching = open.get(pass) ?? [];
        open.delete(pass);
        for (const onEnded of watching) onEnded();
      }
    },
  };
};
