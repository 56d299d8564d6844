/** As much of JSON Schema as output.schema.json uses; a keyword it does not know is an error, not a pass. */

type Schema = { readonly [keyword: string]: unknown };

/** Why the value does not fit the schema, place by place; empty where it does. */
export function misfits(value: unknown, schema: Schema, root: Schema = schema, place = "$"): string[] {
  const at = (inner: unknown, sub: unknown, where: string) => misfits(inner, sub as Schema, root, where);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const checks: { readonly [keyword: string]: (argument: never) => string[] } = {
    $ref: (name: string) =>
      at(value, (root.$defs as { [name: string]: Schema })[name.replace("#/$defs/", "")] ?? {}, place),
    type: (types: string | string[]) =>
      [types].flat().some((type) => isType(value, type)) ? [] : [`${place}: ${types}`],
    const: (only: unknown) => (value === only ? [] : [`${place}: not ${JSON.stringify(only)}`]),
    enum: (all: unknown[]) => (all.includes(value) ? [] : [`${place}: not one of ${all.join(", ")}`]),
    minimum: (least: number) => (typeof value !== "number" || value >= least ? [] : [`${place}: below ${least}`]),
    maximum: (most: number) => (typeof value !== "number" || value <= most ? [] : [`${place}: above ${most}`]),
    pattern: (text: string) => (new RegExp(text).test(String(value)) ? [] : [`${place}: not ${text}`]),
    items: (item: Schema) => (Array.isArray(value) ? value.flatMap((one, i) => at(one, item, `${place}[${i}]`)) : []),
    required: (names: string[]) =>
      isObject ? names.filter((name) => !(name in (value as object))).map((name) => `${place}: no ${name}`) : [],
    properties: (of: { [name: string]: Schema }) =>
      isObject
        ? Object.entries(value as object).flatMap(([name, one]) =>
            name in of ? at(one, of[name], `${place}.${name}`) : [],
          )
        : [],
    additionalProperties: (rest: Schema | false) =>
      isObject
        ? Object.entries(value as object)
            .filter(([name]) => !(name in ((schema.properties as object | undefined) ?? {})))
            .flatMap(([name, one]) =>
              rest === false ? [`${place}: unknown ${name}`] : at(one, rest, `${place}.${name}`),
            )
        : [],
    anyOf: (all: Schema[]) => (all.some((one) => at(value, one, place).length === 0) ? [] : [`${place}: none fits`]),
    oneOf: (all: Schema[]) => {
      const found = all.map((one) => at(value, one, place));
      const fitting = found.filter((misfit) => misfit.length === 0).length;
      return fitting === 1 ? [] : [`${place}: ${fitting} fit`, ...found.sort((a, b) => a.length - b.length)[0]];
    },
  };
  return Object.entries(schema).flatMap(([keyword, argument]) => {
    if (["$schema", "title", "description", "$defs"].includes(keyword)) return [];
    const check = checks[keyword];
    return check ? check(argument as never) : [`${place}: the keyword ${keyword} is not known here`];
  });
}

function isType(value: unknown, type: string): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}
