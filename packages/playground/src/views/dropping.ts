/** Files out of drops and file inputs, with the paths inside the folders they came from. */

import type { NamedFile } from "../protocol.ts";

/** Files of an input; those of a chosen folder keep their paths. */
export function filesOfInput(input: HTMLInputElement): NamedFile[] {
  return Array.from(input.files ?? [], (file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/** Everything in a drop, folders opened. The entries must be taken before the event ends, so this is called in its handler. */
export async function filesOfDrop(transfer: DataTransfer): Promise<NamedFile[]> {
  const entries = Array.from(transfer.items, (item) => item.webkitGetAsEntry?.() ?? undefined);
  const plain = Array.from(transfer.files, (file) => ({ path: file.name, file }));
  if (!entries.some((entry) => entry?.isDirectory)) return plain;
  const found: NamedFile[] = [];
  for (const entry of entries) if (entry) await collect(entry, entry.name, found);
  return found;
}

async function collect(entry: FileSystemEntry, path: string, found: NamedFile[]): Promise<void> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ path, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (;;) {
    // A reader gives its entries in batches and an empty batch at the end.
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (batch.length === 0) return;
    for (const child of batch) await collect(child, `${path}/${child.name}`, found);
  }
}
