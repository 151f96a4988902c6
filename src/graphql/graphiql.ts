import { createHash } from 'node:crypto';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';

// A page to try the API, with everything it needs inside. A key behind `#key=` in its address becomes the header of its
// requests; what stands behind # never leaves the browser. What a person types is kept until the tab is closed.

const firstSteps = `# Press the button and choose Ask: the echo agent sends
# your words back, one by one. Then choose Watch.
#
# The task's id is a variable, see below. Each task has
# its own: for the next one, change a digit of it.

mutation Ask($task: ID!) {
  sendMessage(input: {
    taskId: $task
    agent: "echo"
    text: "The quick brown fox jumps over the lazy dog"
  }) {
    id
    state
  }
}

subscription Watch($task: ID!) {
  taskEvents(taskId: $task) {
    seq
    actor
    ... on StatusEvent { to final }
    ... on ArtifactEvent { parts { text } }
    task { state artifacts { text } }
  }
}

query Look {
  tasks(first: 5) {
    edges { node { id state result } }
  }
}
`;

const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="28" height="28"><rect width="32" height="32" rx="7" fill="#1f2937"/><path d="M8 24 24 8" stroke="#f59e0b" stroke-width="5" stroke-linecap="round"/><path d="m8 24 4-4" stroke="#fde68a" stroke-width="5" stroke-linecap="round"/></svg>`;

/** Runs in the page, before GraphiQL does, and leaves in its storage what its editors begin with. */
const prepare = `
  const given = () => new URLSearchParams(location.hash.slice(1)).get('key');
  const key = given();
  if (key) {
    sessionStorage.clear();
    history.replaceState(null, '', location.pathname);
  }
  addEventListener('hashchange', () => given() && location.reload());
  const newId = () => URL.createObjectURL(new Blob()).slice(-36); // crypto.randomUUID is there under https only
  const first = {
    headers: key ? JSON.stringify({ authorization: 'Bearer ' + key }, null, 2) : '{\\n  // "authorization": "Bearer <your key>"\\n}',
    variables: JSON.stringify({ task: newId() }, null, 2),
  };
  window.batonOptions = (options) => {
    for (const [name, text] of Object.entries({ query: options.defaultQuery, ...first }))
      sessionStorage.getItem('graphiql:' + name) ?? sessionStorage.setItem('graphiql:' + name, text);
    return {
      ...options,
      defaultHeaders: sessionStorage.getItem('graphiql:headers'),
      defaultEditorToolsVisibility: sessionStorage.getItem('graphiql:headers').includes('// ') ? 'headers' : 'variables',
      storage: sessionStorage,
      onEditQuery: () => undefined, // else the query goes into the address, which then answers instead of showing a page
    };
  };
`;

export type Page = { html: string; csp: string };

export const createGraphiqlPage = (): Page => {
  const options = {
    title: 'Baton',
    logo,
    favicon: `data:image/svg+xml,${encodeURIComponent(logo)}`,
    defaultQuery: firstSteps,
    subscriptionsProtocol: 'SSE' as const,
    method: 'POST' as const,
    shouldPersistHeaders: true,
    credentials: 'omit' as const,
  };
  const given = JSON.stringify(options);
  const html = renderGraphiQL(options)
    .trim()
    .replace('<div id="root"></div>', () => `<div id="root"></div><script>${prepare}</script>`)
    .replace(given, () => `window.batonOptions(${given})`);
  if (!html.includes(`window.batonOptions(${given})`))
    throw new Error('GraphiQL is rendered in another way: mend graphiql.ts');
  return { html, csp: policyOf(html) };
};

/** Only the scripts of this page run, and it talks to nobody but the hub. */
const policyOf = (html: string): string => {
  const hashes = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return [
    "default-src 'none'",
    `script-src ${hashes.join(' ')}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    "connect-src 'self'",
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
};
