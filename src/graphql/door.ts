import type { IncomingMessage, RequestListener } from 'node:http';
import { createGraphiqlPage, type Page } from './graphiql.ts';
import type { Pipeline } from './pipeline.ts';

/** HTTP: a page for people, the pipeline for programs. */
export const createGraphqlDoor = ({ yoga }: Pipeline): RequestListener => {
  let page: Page | undefined; // it is large: made when somebody looks
  return (request, response) => {
    if (wantsPage(request)) {
      page ??= createGraphiqlPage();
      response.writeHead(200, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': page.csp,
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-cache',
      });
      response.end(page.html);
    } else if (request.method === 'POST' && !isJson(request)) {
      request.resume(); // a form of some other page can send the rest without asking
      response.writeHead(415, { 'content-type': 'application/json; charset=utf-8' });
      const message = 'Send JSON: content-type must be application/json';
      response.end(`${JSON.stringify({ errors: [{ message, extensions: { code: 'BAD_INPUT' } }] })}\n`);
    } else {
      if (request.method === 'POST') request.headers['content-type'] = 'application/json'; // yoga wants it in these letters
      void yoga(request, response, {});
    }
  };
};

const wantsPage = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' && !url.includes('query=') && (headers.accept ?? '').includes('text/html');

const isJson = ({ headers }: IncomingMessage): boolean =>
  /^application\/json *(;[^,]*)?$/i.test(headers['content-type'] ?? '');
