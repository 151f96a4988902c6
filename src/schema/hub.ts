import { version } from '../resolvers/hub.ts';
import { builder } from './builder.ts';

builder.queryFields((t) => ({
  version: t.string({ description: 'The version of this hub.', resolve: version }),
}));
