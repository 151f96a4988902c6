import type { AgentActor } from '../core/actor.ts';
import { DomainError } from '../core/domain-error.ts';
import type { CloseCode } from './agent-socket.ts';
import type { BackPressure } from './back-pressure.ts';
import { createWork, type Work } from './hand-over.ts';
import type { HubOptions } from './hub.ts';
import type { Params } from './json-rpc.ts';
import type { Call, Peer } from './peer.ts';
import { admit, type Registration, readRegistration, refusal, resumeAll } from './register.ts';
import { createReports, type Reports } from './reports.ts';

// Lets an agent in: by its token, once per connection.

/** A registered agent's side of a connection. */
export type Desk = {
  agent: AgentActor;
  capacity: number;
  /** Places that the dispatcher has asked for and not yet used. */
  reserved: number;
  /** The agent was told that it is registered. */
  isReady: boolean;
  work: Work;
  reports: Reports;
  /** Nobody need watch over its token any more. */
  forgetPass: () => void;
};

type Options = HubOptions & {
  connection: string;
  token: string | undefined;
  peer: Peer;
  pressure: BackPressure;
  leave: (code: CloseCode) => void;
  onDesk: (desk: Desk, isTakeover: boolean) => void;
};

export const registrar = (options: Options) => {
  const { authenticate, watchPass, presence, instance, log, onRoom, connection, token, pressure, leave, onDesk } =
    options;
  const shown = token === undefined ? undefined : authenticate(token);
  let isRegistered = false;

  /** A token that was shown at the door and opens nothing is not waited for. */
  const check = (): void => {
    shown?.then(
      (pass) => {
        const refused = refusal(pass);
        if (refused) leave(refused.code);
      },
      (error) => {
        log.error({ err: error }, 'A token could not be checked');
        leave(1012);
      },
    );
  };

  const register = (params: Params, call: Call): Promise<void> => {
    const wanted = readRegistration(params);
    if (isRegistered) throw new DomainError('CONFLICT', 'This connection is registered already');
    return letIn(wanted, call).catch((error) => {
      // Half registered is worse than not at all: the agent comes again.
      call.refuse(error);
      leave(error instanceof DomainError && error.code !== 'RATE_LIMITED' ? 4400 : 1012);
    });
  };

  const letIn = async (wanted: Registration, call: Call): Promise<void> => {
    const pass = await (shown ?? (wanted.token === undefined ? undefined : authenticate(wanted.token)));
    const admitted = admit(pass, wanted.name);
    if ('error' in admitted) {
      call.answer({ registered: false, error: admitted.error });
      return leave(admitted.code);
    }
    const { agent } = admitted;
    await presence.connect({ id: connection, agent: agent.id, instance, takesOver: wanted.takesOver });
    isRegistered = true;
    const work = createWork({ ...options, agent, submit: pressure.submit });
    const forgetPass = pass ? watchPass(pass, () => leave(4403)) : () => undefined;
    const desk = { agent, capacity: wanted.capacity, reserved: 0, isReady: false, work, forgetPass };
    const made: Desk = { ...desk, reports: createReports({ ...options, agent, work }) };
    onDesk(made, wanted.takesOver);
    if (wanted.card) await presence.introduce(agent.id, wanted.card);
    const { resumed, lastN, tellMissed } = await resumeAll(wanted.resume, { ...options, agent, work });
    call.answer({ registered: true, agent_id: agent.id, resumed, last_n: lastN, pending_results: 0 });
    made.isReady = true;
    tellMissed();
    onRoom();
  };

  return { check, register };
};
