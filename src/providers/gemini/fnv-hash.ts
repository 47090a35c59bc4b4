/** FNV-1a over UTF-16 code units: short, and the same everywhere. Not a secret. */
export function hashText(text: string): string {
  let value = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  }
  return (value >>> 0).toString(36)
}
