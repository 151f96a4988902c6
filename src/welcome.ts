import type { Server } from './server.ts';

// What a person sees when the hub is ready: where everything is, and something to paste. It fits into 100 columns; what is
// to be pasted starts at the left edge and breaks only where a shell lets it.

type Ready = Pick<Server, 'version' | 'url' | 'dataDir' | 'newKey' | 'hasEcho'>;

export const welcome = ({ version, url, dataDir, newKey, hasEcho }: Ready, newId: () => string): string =>
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
    '  Try it in a browser:',
    '',
    `  ${url}/graphql${newKey ? `#key=${newKey}` : ''}`,
    '',
    `  Or paste this into another terminal${newKey ? '' : ', with your key'}${hasEcho ? '. The agent echo sends the words back:' : ':'}`,
    '',
    `export BATON_KEY='${newKey ?? '<your key>'}'`,
    ...(hasEcho ? firstTask(url, newId()) : whoAmI(url)),
    '',
    '  How to go on: docs/api.md. Settings: docs/settings.md. Stop with Ctrl-C.',
    '',
  ].join('\n');

const authorization = `-H "authorization: Bearer $BATON_KEY"`;

/** Asks the built-in agent for something, and shows what it does as it does it. */
const firstTask = (url: string, task: string): string[] => [
  `curl -s -w '\\n' ${url}/graphql ${authorization} \\`,
  `  -H 'content-type: application/json' -d '{`,
  '    "query": "mutation($input: SendMessageInput!) { sendMessage(input: $input) { id state } }",',
  `    "variables": { "input": { "taskId": "${task}",`,
  '      "agent": "echo", "text": "Hello from the hub, word by word" } } }\'',
  `curl -sNG ${url}/graphql ${authorization} \\`,
  `  -H 'accept: text/event-stream' --data-urlencode 'query=subscription {`,
  `    taskEvents(taskId: "${task}") {`,
  '      __typename seq',
  '      ... on StatusEvent { to }',
  '      ... on ArtifactEvent { parts { text } }',
  "    } }'",
];

const whoAmI = (url: string): string[] => [
  `curl -s -w '\\n' ${url}/graphql ${authorization} \\`,
  "  -H 'content-type: application/json' \\",
  `  -d '{ "query": "{ viewer { user { name } network { name } } }" }'`,
];
