import type { Change } from '../core/draft.ts';

type Row = Record<string, unknown>;

/** Rows are cleared, then kept, then set: a deadline that was set and then cleared is only cleared. */
export const deadlineRows = (changes: Change[]): Row[] => {
  const sets = new Map<string, Row>();
  const kept = new Map<string, Row>();
  const clears = new Map<string, Row>();
  for (const change of changes) {
    if (change.kind === 'deadline') {
      const { deadline, number, afterSeconds } = change;
      sets.set(`${deadline}/${number}`, { kind: deadline, number, after_seconds: afterSeconds });
    }
    if (change.kind === 'keepDeadline') {
      const { deadline, number, former } = change;
      const [set, moved] = [sets.get(`${deadline}/${former}`), kept.get(`${deadline}/${former}`)];
      if (set) sets.set(`${deadline}/${number}`, { ...set, number });
      else kept.set(`${deadline}/${number}`, { kind: deadline, number, former: moved?.former ?? former });
      sets.delete(`${deadline}/${former}`);
      kept.delete(`${deadline}/${former}`);
    }
    if (change.kind === 'clearDeadline') {
      const { deadline, number = null } = change;
      for (const [key, set] of sets)
        if (set.kind === deadline && (number === null || set.number === number)) sets.delete(key);
      for (const [key, each] of kept) if (each.kind === deadline && number === null) kept.delete(key);
      clears.set(`${deadline}/${number}`, { kind: deadline, number, after_seconds: null });
    }
  }
  return [...clears.values(), ...kept.values(), ...sets.values()];
};
