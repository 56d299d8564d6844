/** The browser that the page's suites run in. */

import { existsSync } from "node:fs";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Where the browser is, if there is one. */
export const CHROMIUM = [process.env.RANKSIM_CHROMIUM ?? "", ...PLACES].find((path) => path !== "" && existsSync(path));
