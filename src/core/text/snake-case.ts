/** Converts a field name to the form that it has in JSON: `keepTurns` → `keep_turns`. */
export function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
