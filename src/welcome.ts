import type { Server } from './server.ts';

// What a person sees when the hub is ready: where everything is, and something to paste.

export const welcome = ({ version, url, dataDir, newKey, hasEcho }: Server, newId: () => string): string =>
  [
    '',
    `  Baton ${version} is ready.`,
    '',
    `  GraphQL   ${url}/graphql`,
    `  Agents    ${url.replace(/^http/, 'ws')}/hub`,
    `  Health    ${url}/livez  ${url}/readyz`,
    `  Data      ${dataDir ?? 'in the PostgreSQL that DATABASE_URL names'}`,
    ...(newKey ? ['', `  Your API key, shown only now:  ${newKey}`] : []),
    '',
    `  Try it in a browser:  ${url}/graphql${newKey ? `#key=${newKey}` : ''}`,
    `  or paste this${newKey ? '' : ', with your key'}:`,
    '',
    ...firstTask(url, newKey ?? '<your key>', hasEcho ? newId() : undefined),
    '',
    '  Stop with Ctrl-C. Settings: docs/settings.md',
    '',
  ].join('\n');

/** With the built-in agent: asks it for something, and shows what it does as it does it. */
const firstTask = (url: string, key: string, task: string | undefined): string[] => {
  const curl = `curl -sN ${url}/graphql -H "authorization: Bearer $BATON_KEY" -H 'content-type: application/json'`;
  const ask = `mutation { sendMessage(input: {taskId: "${task}", agent: "echo", text: "Hello from the hub, word by word"}) { id state } }`;
  const watch = `subscription { taskEvents(taskId: "${task}") { seq actor ... on StatusEvent { to } ... on ArtifactEvent { parts { text } } } }`;
  const body = (query: string) => `-d '${JSON.stringify({ query })}'`;
  const setKey = `export BATON_KEY='${key}'`;
  if (!task) return [setKey, `${curl} ${body('{ viewer { user { name } network { name } } }')}`];
  return [setKey, `${curl} ${body(ask)}`, `${curl} -H 'accept: text/event-stream' ${body(watch)}`];
};
