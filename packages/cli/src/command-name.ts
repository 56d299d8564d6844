/** What the user types to reach this program: `npx ranksim` where npm started it, as in a clone; else `ranksim`. */

import type { Io } from "./io.ts";

/** The beginning of a command line that works as it is printed. */
export const commandName = ({ env }: Io): string => (env.npm_command === undefined ? "ranksim" : "npx ranksim");
