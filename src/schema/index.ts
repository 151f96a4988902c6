import { builder } from './builder.ts';
import './scalars.ts';
import './hub.ts';
import './network.ts';
import './user.ts';
import './api-key.ts';
import './agent.ts';
import './context.ts';
import './task.ts';
import './message.ts';
import './artifact.ts';
import './delivery.ts';
import './event.ts';

export const schema = builder.toSchema();
