/** @packageDocumentation `@ranksim/data` with access to files, folders, standard input and downloads. */

export * from "./index.ts";
export { fileSource, openPath, pathFolder, stdinSource, writeWhole } from "./node/files.ts";
