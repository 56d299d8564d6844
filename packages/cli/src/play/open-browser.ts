/** Opens an address in the default browser. */

import { spawn } from "node:child_process";
import type { Session } from "../session.ts";

/** The program that opens addresses: the one that BROWSER names, else the system's own. */
function opener(browser: string | undefined): readonly [command: string, ...args: string[]] {
  if (browser) return [browser];
  if (process.platform === "darwin") return ["open"];
  return process.platform === "win32" ? ["explorer.exe"] : ["xdg-open"];
}

/** Opens it; where there is no browser that is said, and the page is served all the same. */
export async function openBrowser(address: string, session: Session): Promise<void> {
  const [command, ...args] = opener(session.io.env.BROWSER);
  const started = await new Promise<boolean>((resolve) => {
    const child = spawn(command, [...args, address], { stdio: "ignore", detached: true });
    child.once("spawn", () => resolve(true));
    child.once("error", () => resolve(false));
    child.unref();
  });
  if (!started) await session.note(`no browser could be opened with ${command}; open the address in one`);
}
