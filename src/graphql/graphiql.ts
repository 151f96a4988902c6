import { createHash } from 'node:crypto';
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';

// A page to try the API, with everything it needs inside. A key behind `#key=` in its address becomes the header of its
// requests; what stands behind # never leaves the browser.

const firstSteps = `# Press the button, or Ctrl-Enter: the echo agent sends your words back, one by one.
mutation Ask {
  sendMessage(input: { agent: "echo", text: "The quick brown fox jumps over the lazy dog" }) {
    id
    state
  }
}

# Then watch it: put the id of the task here.
subscription Watch {
  taskEvents(taskId: "") {
    seq
    actor
    at
    ... on StatusEvent { from to final }
    ... on ArtifactEvent { parts { text } lastChunk }
  }
}

query Look {
  tasks(first: 5) {
    edges { node { id state result agent { name } createdAt } }
  }
}
`;

const takeKey = `
  const key = new URLSearchParams(location.hash.slice(1)).get('key');
  if (key) history.replaceState(null, '', location.pathname + location.search);
  const headers = JSON.stringify({ authorization: 'Bearer ' + (key || 'YOUR KEY') }, null, 2);
  window.batonOptions = (options) => ({ ...options, headers, defaultHeaders: headers });
`;

export type Page = { html: string; csp: string };

export const createGraphiqlPage = (): Page => {
  const options = {
    title: 'Baton',
    defaultQuery: firstSteps,
    subscriptionsProtocol: 'SSE' as const,
    shouldPersistHeaders: false,
    credentials: 'omit' as const,
  };
  const given = JSON.stringify(options);
  const html = renderGraphiQL(options)
    .trim()
    .replace('<div id="root"></div>', () => `<div id="root"></div><script>${takeKey}</script>`)
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
    `script-src ${hashes.join(' ')} 'unsafe-eval' blob:`,
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
