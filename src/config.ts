import { resolve } from 'node:path';
import { z } from 'zod';
import { StartError } from './core/start-error.ts';

// The only reader of the environment. docs/settings.md is generated from this table.

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const postgresUrl = z
  .string()
  .refine(
    isPostgresUrl,
    'must look like postgres://user:password@host:5432/database, with special characters percent-encoded',
  );

export const settings = {
  HOST: {
    default: '127.0.0.1',
    meaning: 'Address to listen on. `0.0.0.0` listens on every network of the machine.',
    check: z.string(),
  },
  PORT: {
    default: '4000',
    meaning: 'Port to listen on. `0` takes any free one.',
    check: z
      .string()
      .regex(/^\d{1,5}$/, 'must be a whole number from 0 to 65535')
      .transform(Number)
      .refine((port) => port <= 65_535, 'must be a whole number from 0 to 65535'),
  },
  DATABASE_URL: {
    default: null,
    meaning: 'PostgreSQL 15 to 18 to use. Without it the hub runs a PostgreSQL of its own.',
    check: postgresUrl.optional(),
  },
  BATON_DATA_DIR: {
    default: null,
    meaning: 'Where the hub’s own PostgreSQL lives. Without it, `.baton` in the current directory.',
    check: z.string().optional(),
  },
  BATON_ADMIN_KEY: {
    default: null,
    meaning: 'API key of the first owner, at least 24 characters. Without it the hub makes one and prints it once.',
    check: z.string().min(24, 'must have at least 24 characters').optional(),
  },
  BATON_LOG_LEVEL: {
    default: 'info',
    meaning: `One of ${logLevels.map((level) => `\`${level}\``).join(', ')}.`,
    check: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`),
  },
} as const satisfies Record<string, { default: string | null; meaning: string; check: z.ZodType }>;

type Shape = { [Name in keyof typeof settings]: (typeof settings)[Name]['check'] };
const shape = Object.fromEntries(Object.entries(settings).map(([name, { check }]) => [name, check])) as Shape;

export type Config = {
  host: string;
  port: number;
  databaseUrl: string | undefined;
  /** Undefined when nobody chose one. */
  dataDir: string | undefined;
  adminKey: string | undefined;
  logLevel: (typeof logLevels)[number];
  /** Variables that look like ours and are not: most likely misspelt. */
  unknownSettings: string[];
};

export const readConfig = (env: NodeJS.ProcessEnv = process.env): Config => {
  const given = Object.fromEntries(
    Object.entries(settings).map(([name, setting]) => [name, env[name] || setting.default || undefined]),
  );
  const read = z.object(shape).safeParse(given);
  // Values are not repeated: DATABASE_URL and BATON_ADMIN_KEY are secrets.
  if (!read.success) {
    const problems = read.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`);
    throw new StartError(`Bad setting: ${problems.join('; ')}.`, 'docs/settings.md lists every setting.');
  }
  const { data } = read;
  return {
    host: data.HOST,
    port: data.PORT,
    databaseUrl: data.DATABASE_URL,
    dataDir: data.BATON_DATA_DIR && resolve(data.BATON_DATA_DIR),
    adminKey: data.BATON_ADMIN_KEY,
    logLevel: data.BATON_LOG_LEVEL,
    unknownSettings: Object.keys(env).filter((name) => name.startsWith('BATON_') && !(name in settings)),
  };
};

/** What programs that the hub starts get to see of its environment: where programs are, and no secrets. */
export const childEnvironment = (env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv => ({ PATH: env.PATH });

function isPostgresUrl(value: string): boolean {
  try {
    const { protocol, hostname, pathname, searchParams } = new URL(value);
    if (pathname.includes('@')) return false; // a password with an unescaped slash: it would end up in messages
    return ['postgres:', 'postgresql:'].includes(protocol) && (hostname !== '' || searchParams.has('host'));
  } catch {
    return false;
  }
}
