import { DomainError } from '../core/domain-error.ts';
import type { LoggedEvent } from '../core/watch.ts';
import { type Because, type Holding, type MessageEvent, see } from './holding.ts';
import type { HubOptions } from './hub.ts';
import type { Peer } from './peer.ts';
import { contentOut, messageOut } from './wire.ts';

// Reads the log of what an agent works on, and does what it says.

type Options = Pick<HubOptions, 'watchers' | 'log'> & {
  peer: Peer;
  /** Ended by the agent itself, or somebody else's now. */
  onGone: (holding: Holding) => void;
  onStop: (holding: Holding, because: Because) => void;
  onStopped: (holding: Holding) => void;
};

export const createFollower = ({ watchers, log, peer, onGone, onStop, onStopped }: Options) => {
  /** `isCurrent`: the delivery was handed over in this moment, so there is nothing to catch up with. */
  const follow = async (holding: Holding, isCurrent = false): Promise<void> => {
    const { key, following, cursor } = holding;
    holding.isFollowed = true;
    try {
      for await (const event of watchers.watch({ task: key, after: cursor, isCurrent, signal: following.signal })) {
        act(holding, event);
        holding.cursor = event.seq;
        if (following.signal.aborted || holding.stoppingMs !== undefined) return;
      }
    } catch (error) {
      if (error instanceof DomainError) return onGone(holding); // there is no such task any more
      log.warn({ err: error, task: holding.id }, 'A delivery could not be followed; the next patrol goes on');
      holding.isFollowed = false;
    }
  };

  const act = (holding: Holding, event: LoggedEvent): void => {
    const sight = see(holding, event);
    if (sight.kind === 'message') show(holding, sight.event);
    else if (sight.kind === 'gone') onGone(holding);
    else if (sight.kind === 'stop') onStop(holding, sight);
    else if (sight.kind === 'stopped') onStopped(holding);
  };

  const show = ({ id, isAsync, name }: Holding, { seq, atMs, payload: { message } }: MessageEvent): void => {
    const startsWork = message.kind === 'TASK' || message.kind === 'BROADCAST';
    if (isAsync && startsWork) peer.notify('task.event', { task_id: id, seq, content: contentOut(message, name) });
    else peer.notify('message.new', { task_id: id, seq, message: messageOut(message, name, atMs) });
  };

  return { follow };
};
