import { DomainError } from '../core/domain-error.ts';
import { isRecord } from '../core/json.ts';
import type { Log } from '../core/log.ts';
import type { AgentSocket } from './agent-socket.ts';
import { errorOf, type Frame, isDomainError, type Params, type RpcError, type RpcId, rpcErrors } from './json-rpc.ts';
import type { HubMethod } from './methods.ts';

// Both directions of JSON-RPC on one socket: what the agent asks and gets answered, what the hub asks and waits for.

/** Something the agent said. A notification is not answered; when it is refused, a notification `error` says so. */
export type Call = { answer(result: Params): undefined; refuse(error: unknown): undefined };

/** Called in the turn in which the answer arrives, so that it keeps its place among the agent's reports. */
type Asked = { onResult: () => unknown; onError: (message: string) => void };

export type Peer = {
  notify(method: HubMethod, params: Params): void;
  /** Returns the question's id, for `forget`: who never answers must not cost memory for ever. */
  ask(method: HubMethod, params: Params, asked: Asked): string;
  forget(questions: string[]): void;
  /** Undefined: a request with this id is open already; it was refused. */
  callOf(frame: Extract<Frame, { method: string }>): Call | undefined;
  answered(frame: Extract<Frame, { kind: 'response' }>): undefined;
  /** There is no such method. */
  unknown(frame: Extract<Frame, { method: string }>): undefined;
  fail(id: RpcId | null, error: RpcError): void;
};

const mostUnsent = 16 * 1_048_576;

type Options = { socket: AgentSocket; log: Log /** The agent does not read what it is sent. */; onClogged: () => void };

export const createPeer = ({ socket, log, onClogged }: Options): Peer => {
  const open = new Set<string>(); // requests of the agent; ids are kept as strings
  const asked = new Map<string, Asked>();
  let count = 0;

  const send = (frame: Params): void => {
    socket.send(JSON.stringify({ jsonrpc: '2.0', ...frame }));
    if (socket.buffered() > mostUnsent) onClogged();
  };
  const notify = (method: HubMethod, params: Params): void => send({ method, params });
  const fail = (id: RpcId | null, error: RpcError): void => send({ id, error });

  const request = (id: RpcId): Call | undefined => {
    const key = String(id);
    if (open.has(key)) {
      fail(id, { code: rpcErrors.invalidRequest, message: `A request with the id ${key} is open already` });
      return undefined;
    }
    open.add(key);
    return {
      answer(result) {
        open.delete(key);
        send({ id, result });
      },
      refuse(error) {
        open.delete(key);
        fail(id, errorOf(asRefusal(error, log)));
      },
    };
  };

  const notification = (method: string, params: unknown): Call => ({
    answer: () => undefined,
    refuse(error) {
      const { code, message } = asRefusal(error, log);
      const taskId = isRecord(params) ? params.task_id : undefined;
      notify('error', { code, message, ...(typeof taskId === 'string' && { task_id: taskId }), method });
    },
  });

  return {
    notify,
    fail,
    ask(method, params, waiting) {
      count += 1;
      const id = `hub-${count}`;
      asked.set(id, waiting);
      send({ id, method, params });
      return id;
    },
    forget(questions) {
      for (const id of questions) asked.delete(id);
    },
    unknown(frame) {
      const method = frame.method.slice(0, 64);
      const message = `There is no method ${method}`;
      if (frame.kind === 'request') fail(frame.id, { code: rpcErrors.methodNotFound, message });
      else notify('error', { code: 'NOT_FOUND', message, method });
    },
    callOf: (frame) => (frame.kind === 'request' ? request(frame.id) : notification(frame.method, frame.params)),
    answered({ id, error }) {
      const waiting = asked.get(String(id));
      asked.delete(String(id));
      if (error) waiting?.onError(error.message);
      else waiting?.onResult();
    },
  };
};

/** Whatever is not a refusal is a bug, or a database that is away: logged here, and told to nobody in detail. */
const asRefusal = (error: unknown, log: Log): DomainError => {
  if (isDomainError(error)) return error;
  log.error({ err: error }, 'A message of an agent failed');
  return new DomainError('INTERNAL', 'Something went wrong in the hub');
};
