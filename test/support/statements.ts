import pg from 'pg';
import { onTestFinished, vi } from 'vitest';

type Sent = { text: string; values: unknown[] };

/** Every statement that this process sends from here on, as it is really sent. */
export const recordStatements = (): Sent[] => {
  const sent: Sent[] = [];
  const query = pg.Client.prototype.query;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    const [first, values = []] = args as [string | Sent, unknown[]?];
    sent.push(
      typeof first === 'string' ? { text: first, values } : { text: first.text, values: first.values ?? values },
    );
    return Reflect.apply(query, this, args);
  });
  onTestFinished(() => spy.mockRestore());
  return sent;
};
