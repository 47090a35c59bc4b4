/**
 * At which byte of a JSON text the value at a path begins, or the character of a text at that path.
 * Nothing is parsed but what lies on the way, so that the bytes that were sent are the ones counted.
 */
import type { JsonPath } from './compare-requests.ts'

/** `null` if there is nothing at that path. */
export function findJsonByteOffset(json: string, path: JsonPath, offset: number): number | null {
  let at = skipBlanks(json, 0)
  for (const step of path) {
    const next = childAt(json, at, step)
    if (next === null) return null
    at = next
  }
  const end = json[at] === '"' ? at + 1 + escapedLength(json, at + 1, offset) : at
  return new TextEncoder().encode(json.slice(0, end)).length
}

function childAt(json: string, from: number, step: string | number): number | null {
  const isList = json[from] === '['
  if (!isList && json[from] !== '{') return null
  let at = skipBlanks(json, from + 1)
  for (let place = 0; at < json.length && json[at] !== ']' && json[at] !== '}'; place += 1) {
    let name: string | number = place
    if (!isList) {
      const end = skipValue(json, at)
      name = JSON.parse(json.slice(at, end)) as string
      at = skipBlanks(json, skipBlanks(json, end) + 1)
    }
    if (name === step) return at
    at = skipBlanks(json, skipValue(json, at))
    if (json[at] === ',') at = skipBlanks(json, at + 1)
  }
  return null
}

function skipBlanks(json: string, from: number): number {
  let at = from
  while (at < json.length && json.charCodeAt(at) <= 0x20) at += 1
  return at
}

/** Behind the value that begins there. */
function skipValue(json: string, from: number): number {
  let depth = 0
  for (let at = from; at < json.length; at += 1) {
    const char = json[at]
    if (char === '"') at = closingQuote(json, at)
    else if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') depth -= 1
    else if (depth > 0 || !isEndOfPlain(json[at + 1])) continue
    if (depth < 0) return at
    if (depth === 0) return at + 1
  }
  return json.length
}

function isEndOfPlain(char: string | undefined): boolean {
  return char === undefined || /[\s,\]}:]/.test(char)
}

function closingQuote(json: string, from: number): number {
  for (let at = from + 1; at < json.length; at += 1) {
    if (json[at] === '\\') at += 1
    else if (json[at] === '"') return at
  }
  return json.length
}

/** How many characters of the JSON text stand for the first `count` of the string. */
function escapedLength(json: string, from: number, count: number): number {
  let at = from
  for (let left = count; left > 0 && at < json.length; left -= 1) {
    at += json[at] !== '\\' ? 1 : json[at + 1] === 'u' ? 6 : 2
  }
  return at - from
}
