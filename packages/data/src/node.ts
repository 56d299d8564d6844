/** @packageDocumentation `@ranksim/data` with access to files, folders, standard input and downloads. */

export * from "./index.ts";
