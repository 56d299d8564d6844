/** The check sum of zip, gzip and PNG. */

/** For each byte the sum of that byte followed by 0, 1, 2 and 3 zeros: four bytes are taken at a time. */
const TABLES = Array.from({ length: 4 }, () => new Uint32Array(256));
for (let byte = 0; byte < 256; byte++) {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  TABLES[0][byte] = sum;
}
for (let zeros = 1; zeros < 4; zeros++) {
  for (let byte = 0; byte < 256; byte++) {
    const sum = TABLES[zeros - 1][byte];
    TABLES[zeros][byte] = TABLES[0][sum & 0xff] ^ (sum >>> 8);
  }
}

/** CRC-32 of bytes; `before` is that of the bytes before them. */
export function crc32(bytes: Uint8Array, before = 0): number {
  const [last, third, second, first] = TABLES;
  let sum = ~before;
  let at = 0;
  for (const whole = bytes.length - (bytes.length % 4); at < whole; at += 4) {
    sum ^= bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    sum = first[sum & 0xff] ^ second[(sum >>> 8) & 0xff] ^ third[(sum >>> 16) & 0xff] ^ last[sum >>> 24];
  }
  for (; at < bytes.length; at++) sum = last[(sum ^ bytes[at]) & 0xff] ^ (sum >>> 8);
  return ~sum >>> 0;
}
