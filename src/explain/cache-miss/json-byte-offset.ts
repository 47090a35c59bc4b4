/**
 * Finds the byte offset of a value in a JSON text, or of a character in a string value. The text is scanned
 * instead of parsed, because the offset has to count the bytes that were sent.
 */
import type { JsonPath } from './compare-requests.ts'

/** Returns the byte offset of a character in the value at `path`; null if there is no such value. */
export function findJsonByteOffset(json: string, path: JsonPath, offset: number): number | null {
  let index = skipBlanks(json, 0)
  for (const step of path) {
    const next = childAt(json, index, step)
    if (next === null) return null
    index = next
  }
  const end = json[index] === '"' ? index + 1 + escapedLength(json, index + 1, offset) : index
  return new TextEncoder().encode(json.slice(0, end)).length
}

function childAt(json: string, from: number, step: string | number): number | null {
  const isList = json[from] === '['
  if (!isList && json[from] !== '{') return null
  let index = skipBlanks(json, from + 1)
  for (
    let position = 0;
    index < json.length && json[index] !== ']' && json[index] !== '}';
    position += 1
  ) {
    let name: string | number = position
    if (!isList) {
      const end = skipValue(json, index)
      name = JSON.parse(json.slice(index, end)) as string
      index = skipBlanks(json, skipBlanks(json, end) + 1)
    }
    if (name === step) return index
    index = skipBlanks(json, skipValue(json, index))
    if (json[index] === ',') index = skipBlanks(json, index + 1)
  }
  return null
}

function skipBlanks(json: string, from: number): number {
  let index = from
  while (index < json.length && json.charCodeAt(index) <= 0x20) index += 1
  return index
}

/** Returns the index after the JSON value that begins at `from`. */
function skipValue(json: string, from: number): number {
  let depth = 0
  for (let index = from; index < json.length; index += 1) {
    const char = json[index]
    if (char === '"') index = closingQuote(json, index)
    else if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') depth -= 1
    else if (depth > 0 || !isEndOfLiteral(json[index + 1])) continue
    if (depth < 0) return index
    if (depth === 0) return index + 1
  }
  return json.length
}

function isEndOfLiteral(char: string | undefined): boolean {
  return char === undefined || /[\s,\]}:]/.test(char)
}

function closingQuote(json: string, from: number): number {
  for (let index = from + 1; index < json.length; index += 1) {
    if (json[index] === '\\') index += 1
    else if (json[index] === '"') return index
  }
  return json.length
}

/** Returns how long the next `count` characters of a string are in JSON, e.g. 6 for the character `\u00e9`. */
function escapedLength(json: string, from: number, count: number): number {
  let index = from
  for (let remaining = count; remaining > 0 && index < json.length; remaining -= 1) {
    index += json[index] !== '\\' ? 1 : json[index + 1] === 'u' ? 6 : 2
  }
  return index - from
}
