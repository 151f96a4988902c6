import { openHttp, textOf } from './http.ts';

/** Asks for work over HTTP, as any client would. */
export type Creator = { create(order: { agent: string; context: string }): Promise<string>; end(): void };

const sendMessage = JSON.stringify('mutation ($input: SendMessageInput!) { sendMessage(input: $input) { id } }');

export const openCreator = (url: string, key: string): Creator => {
  const http = openHttp(url);
  return {
    async create({ agent, context }) {
      const input = `{"agent":"${agent}","contextId":"${context}","text":"hello"}`;
      const body = `{"query":${sendMessage},"variables":{"input":${input}}}`;
      const answer = await textOf(await http.post('/graphql', body, { authorization: `Bearer ${key}` }));
      const [, id] = /"id":"([^"]+)"/.exec(answer) ?? [];
      if (id === undefined) throw new Error(`A task was refused: ${answer}`);
      return id;
    },
    end: http.end,
  };
};
