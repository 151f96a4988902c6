// Every word of the protocol. docs/hub-protocol.md describes them all; a test compares.

export const agentMethods = [
  'agent.register',
  'heartbeat',
  'task.ack',
  'task.status',
  'task.artifact',
  'task.complete',
] as const;

export const hubMethods = [
  'connection.established',
  'connection.closing',
  'task.execute',
  'task.cancel',
  'task.event',
  'message.new',
  'error',
] as const;

export type AgentMethod = (typeof agentMethods)[number];
export type HubMethod = (typeof hubMethods)[number];

export const isAgentMethod = (method: string): method is AgentMethod =>
  (agentMethods as readonly string[]).includes(method);
