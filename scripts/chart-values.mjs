/** What follows from the charts' values.yaml: the README and the schemas that refuse typos. */
import { isMap, parseDocument } from 'yaml';

const marker = '@schema ';

/** Every value with its comment, in order; a map with a comment of its own is one value. */
export function readValues(text) {
  const document = parseDocument(text);
  return valuesIn(document.contents, [document.commentBefore, document.contents?.commentBefore], []);
}

function valuesIn(map, above, path) {
  return map.items.flatMap((pair, index) => {
    const own = [...(index === 0 ? above : []), pair.key.commentBefore];
    const lines = own
      .filter(Boolean)
      .flatMap((comment) => comment.split('\n'))
      .map((line) => line.trim());
    const at = [...path, pair.key.value];
    const isGroup = isMap(pair.value) && pair.value.items.length > 0 && at.at(-1) !== 'resources';
    if (isGroup) return valuesIn(pair.value, [pair.value.commentBefore], at);
    const described = lines.filter((line) => line !== '' && !line.startsWith(marker)).join(' ');
    const schema = lines.find((line) => line.startsWith(marker))?.slice(marker.length);
    return [
      {
        path: at,
        value: pair.value.toJSON(),
        description: described,
        schema: schema === undefined ? undefined : JSON.parse(schema),
      },
    ];
  });
}

function schemaOf({ value, description, schema }) {
  return { ...(schema ?? inferred(value)), description };
}

function inferred(value) {
  if (Array.isArray(value)) return { type: 'array' };
  if (Number.isInteger(value)) return { type: 'integer', minimum: 0 };
  if (typeof value === 'object') return { type: 'object' };
  return { type: typeof value };
}

function put(root, path, schema) {
  const [name, ...rest] = path;
  if (rest.length === 0) {
    root.properties[name] = schema;
    return;
  }
  root.properties[name] ??= { type: 'object', additionalProperties: false, properties: {} };
  put(root.properties[name], rest, schema);
}

/** Subcharts have schemas of their own; what is global is the same for all. */
export function valuesSchema(values, globals, subcharts, configuration) {
  const root = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    additionalProperties: false,
    properties: {},
  };
  for (const value of [...values.filter(({ path }) => path[0] !== 'global'), ...globals]) {
    if (subcharts.includes(value.path[0])) continue;
    put(root, value.path, value.path.join('.') === 'global.config' ? configuration : schemaOf(value));
  }
  for (const subchart of subcharts) root.properties[subchart] = { type: 'object' };
  return `${JSON.stringify(root, null, 2)}\n`;
}

const row = (prefix, { path, value, description }) =>
  `| \`${[...prefix, ...path].join('.')}\` | \`${JSON.stringify(value)}\` | ${description} |`;

export function valuesTable(prefix, values) {
  return ['| Value | Default | Meaning |', '|---|---|---|', ...values.map((each) => row(prefix, each))].join(
    '\n',
  );
}
