/** Where the load goes. */
export type Target = {
  url: string;
  /** Of a user who may send. */
  key: string;
  agents: { name: string; token: string }[];
  contexts: string[];
  /** A server of the A2A SDK: one request makes the task and streams it; the agent is inside. */
  isA2a?: boolean;
};

/** Tasks in flight, each created, taken, streamed into, followed by one subscriber, completed. */
export type LifecyclePlan = {
  chunksPerTask: number;
  inFlight: number;
  /** No task begins after this. */
  lastBeginMs: number;
  /** How many chunks an agent is ahead of the task's subscriber at most. */
  window: number;
  /** When no more tasks begin, those that run end too, and what they did until then counts. */
  isCutShort: boolean;
};

/** Many subscribers, of one task or of one each; chunks as fast as they are delivered. */
export type FanoutPlan = { subscribers: number; tasks: number; forMs: number; window: number };

/** Open loop: tasks and their chunks come at fixed times, whatever the server does. */
export type LatencyPlan = { tasksPerSecond: number; chunksPerTask: number; chunkEveryMs: number; forMs: number };

export type Plan =
  | ({ kind: 'lifecycle' } & LifecyclePlan)
  | ({ kind: 'fanout' } & FanoutPlan)
  | ({ kind: 'latency' } & LatencyPlan);

export type Written = { key: string; chunks: number }[];

export type Measured = {
  seconds: number;
  /** Chunks that subscribers got. */
  chunks: number;
  tasks: number;
  /** What the load itself cost. */
  cpuUs: number;
  /** Latencies in milliseconds, where that was the question. */
  createMs?: number[];
  chunkMs?: number[];
};

export type Told = { kind: 'open'; target: Target } | { kind: 'round'; plan: Plan };
export type Heard =
  | { kind: 'opened' }
  /** Everything is in place: the clock starts when the answer `round` of the fan-out is due. */
  | { kind: 'ready' }
  | { kind: 'measured'; measured: Measured }
  | { kind: 'done'; written: Written; problems: string[] }
  | { kind: 'failed'; message: string };

/** What a round tells while it runs. */
export type Telling = { ready(): void; measured(measured: Measured): void };

export type Load = {
  round(plan: Plan, tell: Telling): Promise<{ written: Written; problems: string[] }>;
  end(): void;
};
