import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

// PostgreSQL refuses to run as root, and initdb refuses a user id without an account. Three ways out:
//   - as we are: an ordinary user with an account
//   - a user namespace: inside it we are an ordinary user, outside the files stay ours, wherever they are
//   - another account: where containers forbid user namespaces. Binaries and data must be reachable by it

export type Account = { uid: number; gid: number };

export type Runner =
  | { kind: 'as-we-are' }
  | { kind: 'namespace'; account: Account }
  | { kind: 'account'; account: Account };

type Environment = Record<string, string | undefined>;

/** How to run PostgreSQL on files of this owner (none yet: undefined). */
export const findRunner = (owner: Account | undefined, env: Environment): Runner => {
  const me = process.getuid?.();
  if (me === undefined) return { kind: 'as-we-are' };
  const accounts = readAccounts();
  if (me !== 0 && accounts.some(({ uid }) => uid === me)) return { kind: 'as-we-are' };
  if (me === 0 && owner && owner.uid !== 0) return { kind: 'account', account: owner };

  const account = ['postgres', 'nobody']
    .map((name) => accounts.find((known) => known.name === name))
    .find((known) => known !== undefined) ?? { uid: 65_534, gid: 65_534 };
  if (spawnSync('unshare', [...namespaceFlags(account), 'true'], { stdio: 'ignore', env }).status === 0)
    return { kind: 'namespace', account };
  return me === 0 ? { kind: 'account', account } : { kind: 'as-we-are' };
};

/** The program, its arguments and the spawn options that run it so. */
export const asCommand = (runner: Runner, program: string, args: string[]) => {
  const none: Partial<Account> = {};
  switch (runner.kind) {
    case 'as-we-are':
      return { program, args, identity: none };
    case 'namespace':
      return { program: 'unshare', args: [...namespaceFlags(runner.account), program, ...args], identity: none };
    case 'account':
      return { program, args, identity: { uid: runner.account.uid, gid: runner.account.gid } };
  }
};

/** Whether the account may enter every directory down to this one. */
export const canEnter = (account: Account, directory: string): boolean => {
  const { uid, gid, mode } = statSync(directory);
  const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
  return (mode & bit) !== 0 && (dirname(directory) === directory || canEnter(account, dirname(directory)));
};

const namespaceFlags = ({ uid, gid }: Account) => ['--user', `--map-user=${uid}`, `--map-group=${gid}`];

const readAccounts = (): (Account & { name: string })[] =>
  readPasswd()
    .split('\n')
    .map((line) => line.split(':'))
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));

const readPasswd = (): string => {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
};
