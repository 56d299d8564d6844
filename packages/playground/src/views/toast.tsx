/** What went wrong with files, or became of what was open: said where the eye is, until it is put away. */

import { usePage } from "./context.ts";

export function Toast() {
  const { dataError, dataNotice } = usePage();
  const text = dataError.value ?? dataNotice.value;
  if (text === undefined) return null;
  const isError = dataError.value !== undefined;
  const close = () => {
    dataError.value = undefined;
    dataNotice.value = undefined;
  };
  return (
    <div class={isError ? "toast error" : "toast"}>
      <p role={isError ? "alert" : "status"}>{text}</p>
      <button type="button" class="quiet" aria-label="Put the message away" onClick={close}>
        Close
      </button>
    </div>
  );
}
