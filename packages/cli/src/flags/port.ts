/** The port of a server, as a flag. */

import { InvalidArgumentError } from "commander";

/** A whole number from 0 to 65535; 0 takes a free port. */
export function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535 || text.trim() === "") {
    throw new InvalidArgumentError("Expected a whole number from 0 to 65535.");
  }
  return port;
}
