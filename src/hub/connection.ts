import { DomainError } from '../core/domain-error.ts';
import { checkJson, isRecord } from '../core/json.ts';
import { type AgentSocket, type CloseCode, closeReasons } from './agent-socket.ts';
import { createBackPressure } from './back-pressure.ts';
import { createHeartbeat } from './heartbeat.ts';
import type { HubOptions } from './hub.ts';
import { type Frame, parseFrame } from './json-rpc.ts';
import { createLine } from './line.ts';
import { isAgentMethod } from './methods.ts';
import { createPeer } from './peer.ts';
import { type Desk, registrar } from './registrar.ts';

// One socket, from its opening to the last thing it leaves behind.

export type Connection = {
  id: string;
  /** The agent and its work; undefined: it has not registered. */
  desk(): Desk | undefined;
  patrol(): void;
  /** The hub closes it. Resolves when nothing of it is left. */
  leave(code: CloseCode, leaving?: Leaving): Promise<void>;
  /** The socket is closed. */
  closed(): Promise<void>;
};

type Leaving = {
  /** Tells the agent when to come back. */
  reconnectAfterMs?: number;
  /** Closes only when all that was reported is answered. */
  isLast?: boolean;
};

type Options = HubOptions & {
  socket: AgentSocket;
  token: string | undefined;
  onRegistered: (connection: Connection, isTakeover: boolean) => void;
  onEnding: (connection: Connection) => void;
};

const badFramesInRow = 20;
const registerMs = 10_000;

export const createConnection = (options: Options): Connection => {
  const { socket, token, writer, presence, newId, now, log, heartbeatSeconds, onRegistered, onEnding } = options;
  const id = newId();
  const openedMs = now();
  const pressure = createBackPressure(writer);
  const heart = createHeartbeat({ socket, now, heartbeatSeconds });
  const peer = createPeer({ socket, log, onClogged: () => leave(4429) });
  let desk: Desk | undefined;
  let badFrames = 0;
  let busy: Promise<void> | undefined;
  let ending: Promise<void> | undefined;

  const handle = (text: string): Promise<void> | undefined => {
    if (ending) return undefined;
    const frame = parseFrame(text);
    if (frame.kind === 'bad') return refuse(frame);
    badFrames = 0;
    busy = frame.kind === 'response' ? peer.answered(frame) : serve(frame);
    return busy;
  };

  const refuse = ({ id, error }: Extract<Frame, { kind: 'bad' }>): undefined => {
    peer.fail(id, error);
    badFrames += 1;
    if (badFrames >= badFramesInRow) void leave(4400);
  };

  const serve = (frame: Extract<Frame, { method: string }>): Promise<void> | undefined => {
    const { method, params = {} } = frame;
    if (!isAgentMethod(method)) return peer.unknown(frame);
    const call = peer.callOf(frame);
    try {
      if (!call) return undefined;
      if (!isRecord(params)) throw new DomainError('BAD_INPUT', 'params is not an object');
      checkJson(params, 'params');
      if (method === 'heartbeat') return call.answer({ status: 'heartbeat_ack' });
      if (method === 'agent.register') return register(params, call);
      if (!desk) throw new DomainError('UNAUTHENTICATED', 'Register first');
      return desk.reports(method, params, call);
    } catch (error) {
      call?.refuse(error);
      return undefined;
    }
  };

  const { check, register } = registrar({
    ...options,
    connection: id,
    peer,
    pressure,
    token,
    leave: (code) => void leave(code),
    onDesk: (made, isTakeover) => {
      desk = made;
      if (!ending) onRegistered(connection, isTakeover);
    },
  });

  const leave: Connection['leave'] = (code, { reconnectAfterMs, isLast = false } = {}) => {
    if (ending) return ending;
    const reason = closeReasons[code];
    const close = () => {
      socket.resume(); // the other side's good-bye has to be read
      socket.close(code, reason);
    };
    if (reconnectAfterMs !== undefined)
      peer.notify('connection.closing', { reason, reconnect_after_ms: reconnectAfterMs });
    if (!isLast) close();
    return isLast ? end().finally(close) : end();
  };

  const end = (): Promise<void> => {
    if (!ending) {
      ending = cleanUp().catch((error) => log.warn({ err: error }, 'A connection left something behind'));
      onEnding(connection);
    }
    return ending;
  };

  const cleanUp = async (): Promise<void> => {
    pressure.close();
    await busy; // it may still make a desk, or hold something
    if (!desk) return;
    desk.forgetPass();
    await desk.work.close();
    await presence.disconnect({ id, agent: desk.agent.id });
  };

  const line = createLine({ socket, handle });
  socket.onMessage((frame) => {
    heart.sign();
    line.take(frame);
  });
  peer.notify('connection.established', { connection_id: id, heartbeat_seconds: heartbeatSeconds, protocol: '1' });
  check();

  const connection: Connection = {
    id,
    desk: () => desk,
    patrol() {
      pressure.look();
      if (desk?.isReady) desk.work.patrol();
      if (line.isWaiting()) return heart.sign(); // nothing is read, so nothing can be heard
      if (!desk && now() - openedMs >= registerMs) void leave(4401);
      else if (heart.isMissed()) void leave(4408);
      else heart.beat();
    },
    leave,
    closed: end,
  };
  return connection;
};
