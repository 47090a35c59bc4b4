/** Writes a recording as JSON in which a change of behavior changes few lines. */
const WIDTH = 180
/** Deeper levels have line breaks without indentation, which would be a tenth of the file. */
const MAX_INDENT = 4

/** Writes a value on one line if it fits; stream events and explained items always are on one line. */
export function printRecording(value: unknown, indent = ''): string {
  const flat = JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return flat
  if (flat.length + indent.length <= WIDTH || isOneLine(value)) return flat
  const inner = indent.length < MAX_INDENT ? `${indent} ` : indent
  if (Array.isArray(value)) {
    const list = value as readonly unknown[]
    const lines = list.map((one) => inner + printRecording(one, inner))
    return `[\n${lines.join(',\n')}\n${indent}]`
  }
  const lines = Object.entries(value).map(
    ([name, one]) => `${inner}${JSON.stringify(name)}: ${printRecording(one, inner)}`,
  )
  return `{\n${lines.join(',\n')}\n${indent}}`
}

function isOneLine(value: object): boolean {
  const names = Object.keys(value)
  const isEvent = names.length === 1 && (names[0] === 'event' || names[0] === 'data')
  return isEvent || 'fate' in value
}
