import { setTimeout as sleep } from 'node:timers/promises';

/** Asks again until the answer is truthy, and returns it. For things outside this process that cannot call back. */
export const until = async <T>(ask: () => T | Promise<T>, what: string): Promise<NonNullable<T>> => {
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(20)) {
    const answer = await ask();
    if (answer) return answer;
  }
  throw new Error(`Waited in vain for ${what}`);
};
