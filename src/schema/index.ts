import { builder } from './builder.ts';
import './hub.ts';

export const schema = builder.toSchema();
