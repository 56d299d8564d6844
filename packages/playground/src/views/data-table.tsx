/** The first rows of a table as they stand in the file; what each column is can be changed at its head. */

import type { ColumnRole, ReadChoices } from "../protocol.ts";
import { useController, usePage } from "./context.ts";
import { counted } from "./text.ts";

const ROLES: readonly ColumnRole[] = ["feature", "label", "text", "ignore"];

export function DataTable() {
  const controller = useController();
  const page = usePage();
  const unread = page.unread.value;
  const open = page.openData.value;
  const preview = unread ? unread.preview : open?.summary.preview;
  const choices = (unread ?? open)?.choices ?? {};
  if (!preview) return null;
  const rows = preview.columns[0]?.cells.length ?? 0;
  const change = (key: string, role: ColumnRole) => controller.reread(withRole(choices, key, role));
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

/** The choices with another role for one column. There is one label and one text; what they were becomes a feature again. */
function withRole(choices: ReadChoices, key: string, role: ColumnRole): ReadChoices {
  const { labelColumn, textColumn, ignoreColumns = [], ...others } = choices;
  const ignored = ignoreColumns.filter((name) => name !== key);
  if (role === "ignore") ignored.push(key);
  const text = role === "text" ? key : textColumn === key ? undefined : textColumn;
  return {
    ...others,
    labelColumn: role === "label" ? key : labelColumn === key ? null : (labelColumn ?? null),
    ...(text === undefined ? {} : { textColumn: text }),
    ...(ignored.length > 0 ? { ignoreColumns: ignored } : {}),
  };
}
