import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';

// What reading the schema itself costs. Its fields are not ours, so nothing else measures them: aliases and lists within
// lists would multiply to millions of values. About as many as these come with each field.

const sizes: Record<string, number> = {
  types: 100,
  fields: 10,
  inputFields: 10,
  args: 3,
  enumValues: 8,
  possibleTypes: 5,
  interfaces: 2,
  directives: 5,
};

/** Of a document that was validated: no fragment contains itself. */
export const introspectionCost = (document: DocumentNode, operation: OperationDefinitionNode): number => {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const each of document.definitions)
    if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each);
  const known = new Map<SelectionSetNode, number>();

  const costOf = (set: SelectionSetNode, isRoot: boolean): number => {
    const found = known.get(set);
    if (found !== undefined) return found;
    let cost = 0;
    for (const each of set.selections) {
      if (each.kind === Kind.FIELD) {
        if (isRoot && !each.name.value.startsWith('__')) continue;
        cost += 1 + (sizes[each.name.value] ?? 1) * (each.selectionSet ? costOf(each.selectionSet, false) : 0);
      } else {
        const inner = each.kind === Kind.INLINE_FRAGMENT ? each : fragments.get(each.name.value);
        if (inner) cost += costOf(inner.selectionSet, isRoot);
      }
    }
    known.set(set, cost);
    return cost;
  };
  return costOf(operation.selectionSet, true);
};
