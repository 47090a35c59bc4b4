/**
 * Reads a header. Returns null if it is missing, if it is empty (Open WebUI sends headers without a
 * value), or if it is an unfilled template such as `{{TASK}}` (from an older Open WebUI).
 */
export function readOptionalHeader(headers: Headers, name: string): string | null {
  const value = headers.get(name)
  return value === null || value === '' || value.startsWith('{{') ? null : value
}
