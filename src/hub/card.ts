import { DomainError } from '../core/domain-error.ts';
import { isRecord } from '../core/json.ts';
import type { Params } from './json-rpc.ts';
import { optional, optionalList, required, wrong } from './params.ts';

const mostSkills = 100;

/** An agent's card, with what the hub understands of it checked: description and skills. */
export const readCard = (card: unknown): Params | undefined => {
  if (card == null) return undefined;
  if (!isRecord(card)) throw wrong('agent_card', 'an object');
  optional(card, 'description', 'string');
  const skills = optionalList(card, 'skills')?.map(readSkill) ?? [];
  if (skills.length > mostSkills)
    throw new DomainError('TOO_LARGE', `The card has ${skills.length} skills; at most ${mostSkills} are taken`);
  const byId = new Map(skills.map((skill) => [skill.id, skill]));
  return { ...card, skills: [...byId.values()] };
};

const readSkill = (skill: unknown): Params => {
  if (!isRecord(skill)) throw wrong('agent_card.skills', 'a list of objects');
  const id = required(skill, 'id', 'string');
  if (!/^\P{C}{1,128}$/u.test(id)) throw wrong('A skill’s id', '1 to 128 printable characters');
  optional(skill, 'name', 'string');
  optional(skill, 'description', 'string');
  for (const name of ['tags', 'examples'])
    if (optionalList(skill, name)?.some((each) => typeof each !== 'string')) throw wrong(name, 'a list of strings');
  return skill;
};
