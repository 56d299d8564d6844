/**
 * Writes src/catalogue/digits-bytes.ts: the UCI digits as deflated bytes in base64, 1,797 x 64 values and then 1,797
 * labels. Run as `node packages/data/scripts/embed-digits.mjs digits.csv.gz`, with the file that scikit-learn carries in
 * sklearn/datasets/data; needed only to make the module anew.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { deflateRawSync, gunzipSync } from "node:zlib";

const rows = gunzipSync(readFileSync(process.argv[2]))
  .toString("ascii")
  .trim()
  .split("\n")
  .map((line) => line.split(",").map(Number));
const values = rows.flatMap((row) => row.slice(0, 64));
const labels = rows.map((row) => row[64]);
const packed = deflateRawSync(Uint8Array.from([...values, ...labels]), { level: 9 }).toString("base64");
writeFileSync(
  new URL("../src/catalogue/digits-bytes.ts", import.meta.url),
  `/** The UCI digits, packed by scripts/embed-digits.mjs. CC BY 4.0, E. Alpaydin and C. Kaynak; see NOTICE. */\n\nexport const digitsBytes: string =\n  "${packed}";\n`,
);
