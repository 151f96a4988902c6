import { Agent, type IncomingMessage, request } from 'node:http';

/** Connections that stay open, as many as are needed. */
export type Http = {
  post(path: string, body: string, headers?: Record<string, string>): Promise<IncomingMessage>;
  end(): void;
};

export const openHttp = (url: string): Http => {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port } = new URL(url);
  return {
    post: (path, body, headers = {}) =>
      new Promise((resolve, reject) => {
        const asked = request(
          {
            agent,
            host: hostname,
            port,
            path,
            method: 'POST',
            headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
          },
          resolve,
        );
        asked.on('error', reject);
        asked.end(body);
      }),
    end: () => agent.destroy(),
  };
};

export const textOf = async (answer: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const piece of answer) text += piece;
  return text;
};
