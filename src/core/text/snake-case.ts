/** Converts a field name to its form in JSON and in reports: `keepTurns` → `keep_turns`. */
export function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
