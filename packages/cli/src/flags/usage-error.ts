/** Errors of the command line itself: they end the command with exit code 2. */

import { CommanderError } from "commander";

/** A command line that cannot be meant. */
export class UsageError extends CommanderError {
  constructor(message: string) {
    super(2, "ranksim.usage", message);
  }
}

/** An error to throw. */
export const usageError = (message: string): UsageError => new UsageError(message);
