/** The first rows of a table as they stand in the file; what each column is can be changed at its head. */

import type { ColumnRole, Preview, ReadChoices } from "../protocol.ts";
import { useController, usePage } from "./context.ts";
import { counted } from "./text.ts";

const ROLES: readonly ColumnRole[] = ["feature", "label", "text", "ignore", "group", "time", "weight"];

export function DataTable() {
  const controller = useController();
  const page = usePage();
  const unread = page.unread.value;
  const open = page.openData.value;
  const preview = unread ? unread.preview : open?.summary.preview;
  const choices = (unread ?? open)?.choices ?? {};
  if (!preview) return null;
  const rows = preview.columns[0]?.cells.length ?? 0;
  const change = (key: string, role: ColumnRole) => controller.reread(withRole(choices, preview, key, role));
  return (
    <figure class="data-table">
      <figcaption class="hint">
        The first rows. Say at the head of a column what it is
        {preview.hidden > 0 && `; ${counted(preview.hidden, "more column")} not shown`}.
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
      <section class="table-scroll" aria-label="First rows" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {preview.columns.map(({ key, role }) => (
                <th key={key} scope="col" class={role}>
                  <span title={key}>{key}</span>
                  <select
                    aria-label={`Column ${key} is`}
                    value={role}
                    onChange={(event) => change(key, event.currentTarget.value as ColumnRole)}
                  >
                    {ROLES.map((name) => (
                      <option key={name} value={name}>
                        {name}
                      </option>
                    ))}
                  </select>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: rows }, (_, row) => (
              <tr key={row}>
                {preview.columns.map(({ key, role, cells }) => (
                  <td key={key} class={role}>
                    {cells[row]}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </figure>
  );
}

/** Roles of which there is one column. */
const SINGLE = ["label", "text", "group", "time", "weight"] as const;

/** The choices with another role for one column: what had a role of which there is one becomes a feature again. */
function withRole(choices: ReadChoices, { columns }: Preview, key: string, role: ColumnRole): ReadChoices {
  const { encoding, multilabel, ignoreColumns = [] } = choices;
  const ignored = ignoreColumns.filter((name) => name !== key);
  if (role === "ignore") ignored.push(key);
  const keyOf = (single: ColumnRole) =>
    role === single ? key : columns.find((column) => column.role === single && column.key !== key)?.key;
  const single = SINGLE.map((name) => [`${name}Column`, keyOf(name)] as const);
  return {
    ...(encoding ? { encoding } : {}),
    ...(multilabel ? { multilabel } : {}),
    labelColumn: null,
    ...Object.fromEntries(single.filter(([, column]) => column !== undefined)),
    ...(ignored.length > 0 ? { ignoreColumns: ignored } : {}),
  };
}
