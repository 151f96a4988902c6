import { WebSocketServer } from 'ws';

// The other end of an agent's socket, with just enough of the hub's protocol to hand over a task and to be reported to.

export type AgentHub = {
  server: WebSocketServer;
  execute(agent: string, task: { id: string; context: string }): void;
};

export const createAgentHub = (onReport: (frame: Buffer) => void): AgentHub => {
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const agents = new Map<string, (frame: object) => void>();
  server.on('connection', (socket) => {
    const send = (frame: object): void => socket.send(JSON.stringify({ jsonrpc: '2.0', ...frame }));
    let isRegistered = false;
    socket.on('message', (data: Buffer) => {
      if (isRegistered) return data.includes('"method"') ? onReport(data) : undefined; // else it answers that it has the task
      isRegistered = true;
      const { id, params } = JSON.parse(data.toString());
      agents.set(params.agent_name, send);
      send({ id, result: { registered: true } });
    });
  });
  let count = 0;
  return {
    server,
    execute(agent, { id, context }) {
      const message = { role: 'user', parts: [{ type: 'text', text: 'hello' }] };
      const params = { id, task_id: id, delivery: 1, context_id: context, message, history: [] };
      agents.get(agent)?.({ id: `hub-${++count}`, method: 'task.execute', params });
    },
  };
};
