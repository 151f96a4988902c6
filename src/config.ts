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
    check: z
      .string()
      .min(24, 'must have at least 24 characters')
      .regex(/^\S+$/, 'must have no spaces: it is sent behind `Bearer `')
      .optional(),
  },
  BATON_ORIGINS: {
    default: null,
    meaning: 'Origins whose pages may use the hub from a browser, separated by commas: `https://app.example.com`.',
    check: z
      .string()
      .transform((list) => list.split(',').map((origin) => origin.trim()))
      .refine((list) => list.every(isOrigin), 'must be a list of origins such as https://app.example.com')
      .optional(),
  },
  BATON_JWT_SECRET: {
    default: null,
    meaning: 'Takes JWTs signed with this secret (HS256, HS384, HS512), at least 32 characters.',
    check: z.string().min(32, 'must have at least 32 characters').optional(),
  },
  BATON_JWT_JWKS_URL: {
    default: null,
    meaning: 'Takes JWTs signed with a key of this set (RS, PS, ES, EdDSA).',
    check: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  },
  BATON_JWT_ISSUER: { default: null, meaning: 'The `iss` that JWTs must have.', check: z.string().optional() },
  BATON_JWT_AUDIENCE: { default: null, meaning: 'The `aud` that JWTs must have.', check: z.string().optional() },
  BATON_JWT_NETWORK_CLAIM: {
    default: 'network',
    meaning: 'The claim that holds the id of the user’s network. `sub` holds the user’s externalId.',
    check: z.string(),
  },
  BATON_WAIT_SECONDS: {
    default: '600',
    meaning: 'How long a blocking `sendMessage` waits at most.',
    check: wholeNumber(1, 3_600),
  },
  BATON_HEARTBEAT_SECONDS: {
    default: '90',
    meaning: 'A connection that shows no sign of life for so long is considered dead.',
    check: wholeNumber(5, 3_600),
  },
  BATON_LEASE_SECONDS: {
    default: '10',
    meaning: 'An instance that has not renewed its lease for so long is considered dead; its work goes to the others.',
    check: wholeNumber(2, 60),
  },
  BATON_WAKE_UPS: {
    default: 'on',
    meaning: 'Instances tell each other at once when something changed. `off`: each looks once a second.',
    check: z.enum(['on', 'off'], 'must be on or off'),
  },
  BATON_LOG_LEVEL: {
    default: 'info',
    meaning: `One of ${logLevels.map((level) => `\`${level}\``).join(', ')}.`,
    check: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`),
  },
} as const satisfies Record<string, { default: string | null; meaning: string; check: z.ZodType }>;

function wholeNumber(least: number, most: number) {
  const problem = `must be a whole number from ${least} to ${most}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, problem)
    .transform(Number)
    .refine((value) => value >= least && value <= most, problem);
}

type Shape = { [Name in keyof typeof settings]: (typeof settings)[Name]['check'] };
const shape = Object.fromEntries(Object.entries(settings).map(([name, { check }]) => [name, check])) as Shape;

export type Config = {
  host: string;
  port: number;
  databaseUrl: string | undefined;
  /** Undefined when nobody chose one. */
  dataDir: string | undefined;
  adminKey: string | undefined;
  origins: string[];
  jwt: JwtConfig | undefined;
  waitSeconds: number;
  heartbeatSeconds: number;
  leaseSeconds: number;
  hasWakeUps: boolean;
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
    origins: data.BATON_ORIGINS ?? [],
    jwt: jwtOf(data),
    waitSeconds: data.BATON_WAIT_SECONDS,
    heartbeatSeconds: data.BATON_HEARTBEAT_SECONDS,
    leaseSeconds: data.BATON_LEASE_SECONDS,
    hasWakeUps: data.BATON_WAKE_UPS === 'on',
    logLevel: data.BATON_LOG_LEVEL,
    // BATON_KEY is what a person's shell holds after the welcome's first line.
    unknownSettings: Object.keys(env).filter(
      (name) => name.startsWith('BATON_') && name !== 'BATON_KEY' && !(name in settings),
    ),
  };
};

type JwtConfig = {
  secret: string | undefined;
  jwksUrl: string | undefined;
  issuer: string;
  audience: string;
  networkClaim: string;
};

/** Half a setting would let in too many: it stops the start. */
const jwtOf = (data: Record<`BATON_JWT_${string}`, string | undefined>): JwtConfig | undefined => {
  const { BATON_JWT_SECRET: secret, BATON_JWT_JWKS_URL: jwksUrl } = data;
  const { BATON_JWT_ISSUER: issuer, BATON_JWT_AUDIENCE: audience, BATON_JWT_NETWORK_CLAIM: networkClaim = '' } = data;
  const given = [secret, jwksUrl, issuer, audience].some((value) => value !== undefined);
  if (!given) return undefined;
  if ((secret === undefined) === (jwksUrl === undefined) || issuer === undefined || audience === undefined)
    throw new StartError(
      'Bad setting: JWTs need BATON_JWT_ISSUER, BATON_JWT_AUDIENCE, and either BATON_JWT_SECRET or BATON_JWT_JWKS_URL.',
      'docs/settings.md lists every setting.',
    );
  return { secret, jwksUrl, issuer, audience, networkClaim };
};

/** What programs that the hub starts get to see of its environment: where programs are, and no secrets. */
export const childEnvironment = (env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv => ({ PATH: env.PATH });

function isOrigin(value: string): boolean {
  return URL.canParse(value) && new URL(value).origin === value;
}

function isPostgresUrl(value: string): boolean {
  try {
    const { protocol, hostname, pathname, searchParams } = new URL(value);
    if (pathname.includes('@')) return false; // a password with an unescaped slash: it would end up in messages
    return ['postgres:', 'postgresql:'].includes(protocol) && (hostname !== '' || searchParams.has('host'));
  } catch {
    return false;
  }
}
