import type { Change, TaskEvent } from '../core/draft.ts';
import { formatMicros } from '../core/money.ts';
import { bytesOf } from '../core/part.ts';
import type { Group } from '../core/ports.ts';
import { isTerminal } from '../core/task-state.ts';
import { artifactRows } from './artifact-rows.ts';
import { deadlineRows } from './deadline-rows.ts';

// Turns decided groups into the rows of flush_v2. What several commands of a batch did to one row becomes one change.

type Row = Record<string, unknown>;
type GroupTask = Group['tasks'][number];

const noRows = () => ({
  lanes: [] as Row[],
  loads: [] as Row[],
  heads: [] as Row[],
  births: [] as Row[],
  messages: [] as Row[],
  deliveries: [] as Row[],
  confirmations: [] as Row[],
  waits: [] as Row[],
  deadlines: [] as Row[],
  details: [] as Row[],
  artifacts: [] as Row[],
  accounts: [] as Row[],
  charges: [] as Row[],
  events: [] as Row[],
});

export type FlushRows = ReturnType<typeof noRows>;

export const flushRows = (groups: Group[]): FlushRows => {
  const rows = noRows();
  groups.forEach((group, grp) => {
    for (const { expected, isFresh, head } of group.lanes)
      rows.lanes.push({
        grp,
        agent: head.agent,
        context: head.context,
        expected,
        fresh: isFresh,
        version: head.version,
        waiting: head.waiting,
        running: head.running?.task ?? null,
        running_delivery: head.running?.delivery ?? null,
      });
    for (const { expected, head } of group.loads)
      rows.loads.push({ grp, agent: head.agent, expected, version: head.version });
    for (const task of group.tasks) addTask(rows, grp, task);
  });
  return rows;
};

const addTask = (rows: FlushRows, grp: number, task: GroupTask): void => {
  const { head, created, expected, drafts } = task;
  const events = drafts.flatMap((draft) => draft.events);
  const changes = drafts.flatMap((draft) => draft.changes);
  const row = { grp, key: head.key, expected, ...headRow(task, events) };
  if (created)
    rows.births.push({
      ...row,
      id: created.id,
      network: created.network,
      context: created.context,
      context_id: created.contextId,
      user: created.user,
      requester: created.requester.id,
      requester_is_agent: created.requester.isAgent,
      requester_name: created.requester.name,
      skill: created.skill,
      parent: created.parent,
      root: created.root,
      depth: created.depth,
      priority: created.priority,
      ttl_seconds: created.ttlSeconds,
      timeout_seconds: created.timeoutSeconds,
    });
  else rows.heads.push(row);
  for (const event of events)
    if (event.kind === 'MESSAGE') {
      const { message } = event.payload;
      rows.messages.push({
        grp,
        task: head.key,
        seq: event.seq,
        network: head.network,
        id: message.id,
        author: message.author,
        author_name: message.authorName,
        kind: message.kind,
        parts: message.parts,
        in_reply_to: message.inReplyTo,
        metadata: message.metadata,
      });
    }
  const own = { grp, task: head.key };
  rows.events.push(...eventRows(events).map((each) => ({ ...own, ...each })));
  rows.deliveries.push(...deliveryRows(changes).map((each) => ({ ...own, ...each })));
  rows.waits.push(...waitRows(changes).map((each) => ({ ...own, ...each })));
  rows.deadlines.push(...deadlineRows(changes).map((each) => ({ ...own, ...each })));
  rows.artifacts.push(...artifactRows(head.run, drafts).map((each) => ({ ...own, ...each })));
  for (const change of changes) {
    if (change.kind === 'confirm') rows.confirmations.push({ ...own, number: change.number });
    if (change.kind === 'charge') rows.accounts.push({ grp, ...moneyRow(change) });
  }
  rows.charges.push(...chargeRows(changes).map((each) => ({ ...own, ...each })));
  const detail = detailRow(changes);
  if (created || detail) rows.details.push({ ...own, metadata: created?.metadata ?? null, ...detail });
};

const headRow = ({ head }: GroupTask, events: TaskEvent[]): Row => {
  const moved = events.findLast((event) => event.kind === 'STATUS' && event.from !== event.to);
  return {
    state: head.state,
    reason: moved?.kind === 'STATUS' ? (moved.payload.reason ?? null) : null,
    run: head.run,
    seq: head.seq,
    generation: head.generation,
    delivery: head.delivery,
    delivery_state: head.deliveryState,
    holder: head.holder,
    last_n: head.lastN,
    rank: head.rank,
    attempts: head.attempts,
    acknowledged: head.isAcknowledged,
    turn_seq: head.turnSeq,
    agent: head.executor.id,
    agent_name: head.executor.name,
    moved: moved !== undefined,
    started: events.some((event) => event.kind === 'STATUS' && event.to === 'WORKING'),
    finished: isTerminal(head.state),
  };
};

const mostBytesTogether = 65_536; // who reads a row holds all of it

/** Lines that follow each other and are alike share a row, while they are small; its key is the last seq. */
const eventRows = (events: TaskEvent[]): Row[] => {
  const rows: (Row & { seq: number; payload: unknown[] })[] = [];
  let last: TaskEvent | undefined;
  let bytes = 0;
  for (const event of events) {
    const row = rows.at(-1);
    const isNext = row !== undefined && last !== undefined && isAlike(last, event);
    bytes = bytesOf(event) + (isNext ? bytes : 0);
    if (isNext && bytes <= mostBytesTogether) {
      row.seq = event.seq;
      row.payload.push(event.payload);
    } else {
      const { seq, kind, from, to, actor, payload } = event;
      bytes = bytesOf(event);
      rows.push({ seq, first_seq: seq, kind, from, to, actor, payload: [payload] });
    }
    last = event;
  }
  return rows;
};

const isAlike = (one: TaskEvent, other: TaskEvent): boolean => {
  if (one.actor !== other.actor) return false;
  if (one.kind === 'ARTIFACT' && other.kind === 'ARTIFACT')
    return one.payload.artifactId === other.payload.artifactId && other.payload.append;
  return (
    one.kind === 'STATUS' &&
    other.kind === 'STATUS' &&
    one.from === one.to &&
    other.from === other.to &&
    one.to === other.to
  );
};

const deliveryRows = (changes: Change[]): Row[] => {
  const rows = new Map<number, Row>();
  for (const change of changes) {
    if (change.kind !== 'delivery') continue;
    const { number, state, outcome = null, agent, holder, instance } = change;
    const { delivered, acked, started, instance: taker } = rows.get(number) ?? {};
    rows.set(number, {
      number,
      state,
      outcome,
      agent,
      holder,
      instance: instance ?? taker ?? null,
      delivered: delivered || state === 'DELIVERED',
      acked: acked || state === 'ACKED',
      started: started || state === 'WORKING',
    });
  }
  return [...rows.values()];
};

/** Who joins and leaves the line in one batch never stood in it. */
const waitRows = (changes: Change[]): Row[] => {
  const rows = new Map<string, Row>();
  for (const change of changes) {
    if (change.kind !== 'wait' && change.kind !== 'leave') continue;
    const { agent, context } = change.lane;
    const place = `${agent}/${context}/${change.rank}`;
    if (rows.has(place)) rows.delete(place);
    else rows.set(place, { agent, context, rank: change.rank, leaves: change.kind === 'leave' });
  }
  return [...rows.values()];
};

type ChargeChange = Extract<Change, { kind: 'charge' }>;

/** A hold is no entry: it only binds. What is captured leaves the account, what is released is free again. */
const moneyRow = ({ state, hold }: ChargeChange): Row => {
  const amount = formatMicros(hold.micros);
  const sign = state === 'HELD' ? '' : '-';
  return { account: hold.account, held: `${sign}${amount}`, balance: state === 'CAPTURED' ? `-${amount}` : '0' };
};

const chargeRows = (changes: Change[]): Row[] => {
  const rows = new Map<number, Row>();
  for (const change of changes) {
    if (change.kind !== 'charge') continue;
    const { run, state, hold } = change;
    rows.set(run, { run, state, account: hold.account, amount: formatMicros(hold.micros) });
  }
  return [...rows.values()];
};

const detailRow = (changes: Change[]): Row | undefined => {
  const row: Row = {};
  for (const change of changes) {
    if (change.kind === 'result') row.result = change.text;
    if (change.kind === 'usage') row.usage = change.usage;
  }
  return Object.keys(row).length > 0 ? row : undefined;
};
