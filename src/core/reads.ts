import type { LedgerMessage } from './assignment.ts';
import type { Part } from './command.ts';
import type { DeliveryOutcome, DeliveryState } from './delivery-state.ts';
import type { ChargeState } from './draft.ts';
import type { Priority } from './head.ts';
import type { Connection, PageArgs } from './page.ts';
import type { TaskState } from './task-state.ts';
import type { LoggedEvent } from './watch.ts';

// What one caller may read. Everything here is scoped to the caller in SQL; what it may not see does not exist.

export type TaskView = {
  key: string;
  id: string;
  networkId: string;
  contextKey: string;
  userId: string;
  requesterId: string;
  requesterIsAgent: boolean;
  agentId: string;
  skillId: string | null;
  parentKey: string | null;
  rootKey: string;
  depth: number;
  priority: Priority;
  state: TaskState;
  reason: string | null;
  run: number;
  seq: number;
  generation: number;
  delivery: number;
  deliveryState: DeliveryState;
  createdAt: Date;
  updatedAt: Date;
  statusAt: Date;
  deliveredAt: Date | null;
  startedAt: Date | null;
  finishedAt: Date | null;
};

export type MessageView = Omit<LedgerMessage, 'atMs'> & { createdAt: Date };
export type EventView = LoggedEvent;
export type ContextView = { key: string; id: string; title: string | null; createdAt: Date; updatedAt: Date };
export type DetailView = { metadata: unknown; result: string | null; usage: unknown };
export type DeadlinesView = { expiresAt: Date | null; timeoutAt: Date | null };
export type ChargeView = { amount: string; state: ChargeState; at: Date };

export type ArtifactView = {
  taskKey: string;
  artifactId: string;
  name: string | null;
  description: string | null;
  firstSeq: number;
  lastSeq: number;
  size: number;
  complete: boolean;
  createdAt: Date;
  updatedAt: Date;
};

export type DeliveryView = {
  taskKey: string;
  number: number;
  agentId: string;
  state: DeliveryState;
  outcome: DeliveryOutcome | null;
  createdAt: Date;
  deliveredAt: Date | null;
  ackedAt: Date | null;
  startedAt: Date | null;
  endedAt: Date | null;
};

export type AgentView = {
  id: string;
  ownerId: string;
  name: string;
  description: string | null;
  url: string | null;
  mode: 'SYNC' | 'ASYNC';
  capacity: number | null;
  whenLost: 'REQUEUE' | 'FAIL';
  card: unknown;
  createdAt: Date;
  removedAt: Date | null;
  lastSeenAt: Date | null;
  isConnected: boolean;
};

export type SkillView = {
  id: string;
  skillId: string;
  name: string;
  description: string;
  tags: string[];
  examples: string[];
  price: string;
};

export type UserView = {
  id: string;
  name: string;
  status: 'ACTIVE' | 'PENDING_APPROVAL' | 'SUSPENDED' | 'BLOCKED';
  role: 'OWNER' | 'ADMIN' | 'MEMBER' | 'VIEWER';
  createdAt: Date;
};
export type NetworkView = { id: string; name: string };
export type AccountView = { balance: string; held: string; available: string };
export type ApiKeyView = {
  id: string;
  name: string;
  prefix: string;
  scopes: string[];
  createdAt: Date;
  lastUsedAt: Date | null;
  expiresAt: Date | null;
};

type Maybe<T> = T | null | undefined;
export type TaskFilter = {
  states?: Maybe<readonly TaskState[]>;
  contextId?: Maybe<string>;
  agent?: Maybe<string>;
  skill?: Maybe<string>;
  userId?: Maybe<string>;
  parentId?: Maybe<string>;
  rootId?: Maybe<string>;
  priority?: Maybe<Priority>;
  createdAfter?: Maybe<Date>;
  createdBefore?: Maybe<Date>;
};
export type AgentFilter = { connected?: Maybe<boolean>; skill?: Maybe<string> };

export type Counted<Row> = Connection<Row> & { /** Only when somebody asks. */ count?: () => Promise<number> };

export type Reads = {
  task(id: string): Promise<TaskView | undefined>;
  taskByKey(key: string): Promise<TaskView | undefined>;
  /** Newest first. */
  tasks(
    page: PageArgs,
    filter?: TaskFilter,
    within?: { context?: string; agent?: string; parent?: string },
  ): Promise<Counted<TaskView>>;
  detail(task: string): Promise<DetailView | undefined>;
  deadlines(task: string): Promise<DeadlinesView | undefined>;
  charge(task: string): Promise<ChargeView | undefined>;
  /** 1 is next; undefined: it does not wait. */
  queuePosition(task: string): Promise<number | undefined>;
  messages(task: string, page: PageArgs): Promise<Counted<MessageView>>;
  message(id: string): Promise<MessageView | undefined>;
  statusMessage(task: string): Promise<MessageView | undefined>;
  artifacts(task: string): Promise<ArtifactView[]>;
  /** Its chunks put together. */
  artifactParts(artifact: ArtifactView): Promise<Part[]>;
  events(task: string, page: PageArgs): Promise<Counted<EventView>>;
  deliveries(task: string, last: number): Promise<DeliveryView[]>;
  context(key: string): Promise<ContextView | undefined>;
  contextById(id: string, user?: Maybe<string>): Promise<ContextView | undefined>;
  contexts(page: PageArgs, search?: Maybe<string>): Promise<Counted<ContextView>>;
  agent(id: string): Promise<AgentView | undefined>;
  agentByName(name: string): Promise<AgentView | undefined>;
  agents(page: PageArgs, filter?: Maybe<AgentFilter>): Promise<Counted<AgentView>>;
  skills(agent: string): Promise<SkillView[]>;
  user(id: string): Promise<UserView | undefined>;
  /** The caller's own, or any for admins. */
  account(user: string): Promise<AccountView | undefined>;
  apiKey(id: string): Promise<ApiKeyView | undefined>;
  network(id: string): Promise<NetworkView | undefined>;
};
