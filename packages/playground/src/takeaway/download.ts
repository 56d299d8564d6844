/** Hands a file to the user. */

export function download(name: string, content: BlobPart, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  // The browser has taken the content by the time the next task runs.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
