/** A field as it is written in JSON, in requests and in what is told of them: `keepTurns` is `keep_turns`. */
export function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
