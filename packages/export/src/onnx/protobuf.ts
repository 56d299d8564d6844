/** The part of protocol buffers that an ONNX file needs: numbers, bytes, text and messages, written field by field. */

/** A message as its encoded fields, not yet joined. */
export type Message = readonly Uint8Array[];

const encoder = new TextEncoder();

/** A whole number from 0 on. */
export function numberField(field: number, value: number): Message {
  return [varint(field * 8), varint(value)];
}

/** Bytes. */
export function bytesField(field: number, bytes: Uint8Array): Message {
  return [varint(field * 8 + 2), varint(bytes.byteLength), bytes];
}

/** Text. */
export function textField(field: number, text: string): Message {
  return bytesField(field, encoder.encode(text));
}

/** A message within a message. */
export function messageField(field: number, message: Message): Message {
  return [varint(field * 8 + 2), varint(byteLength(message)), ...message];
}

/** The bytes that a message takes. */
export function byteLength(message: Message): number {
  return message.reduce((sum, part) => sum + part.byteLength, 0);
}

/** A message as one array. */
export function join(message: Message): Uint8Array {
  const out = new Uint8Array(byteLength(message));
  let at = 0;
  for (const part of message) {
    out.set(part, at);
    at += part.byteLength;
  }
  return out;
}

/** Seven bits a byte, lowest first; the eighth says that more follow. Divides, so that numbers beyond 32 bits are right. */
function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
