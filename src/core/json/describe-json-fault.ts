/**
 * Describes where a text stops being JSON. The message of `JSON.parse` has no position for some faults, such as `[}`,
 * and quotes the text, which may contain secrets.
 */

/** Returns e.g. `it is broken at line 2, column 5`. `text` must be one that `JSON.parse` rejects. */
export function describeJsonFault(text: string): string {
  if (text.trim() === '') return 'it is empty'
  const position = findJsonFault(text)
  if (position >= text.length) return 'it ends before it is complete'
  const lines = text.slice(0, position).split('\n')
  return `it is broken at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`
}

/**
 * The kind of text that may come next: `value-or-end` after `[`, `name-or-end` after `{`, `end` after the complete
 * value.
 */
type Expected = 'value' | 'value-or-end' | 'name' | 'name-or-end' | 'colon' | 'comma' | 'end'

/**
 * Returns the position of the first character that cannot belong to JSON, or the length of the text if it only ends too
 * early.
 */
function findJsonFault(text: string): number {
  const brackets: string[] = []
  let expected: Expected = 'value'
  let position = skipSpace(text, 0)
  while (position < text.length) {
    const char = text[position] ?? ''
    const isName: boolean = expected === 'name' || expected === 'name-or-end'
    const isValue = expected === 'value' || expected === 'value-or-end'
    let end = position + 1
    if (char === '"' && (isName || isValue)) {
      end = findStringEnd(text, position)
      if (end < 0) return ~end
      expected = isName ? 'colon' : afterValue(brackets)
    } else if (isValue && (char === '[' || char === '{')) {
      brackets.push(char)
      expected = char === '[' ? 'value-or-end' : 'name-or-end'
    } else if (
      (char === ']' &&
        (expected === 'value-or-end' || expected === 'comma') &&
        brackets.at(-1) === '[') ||
      (char === '}' &&
        (expected === 'name-or-end' || expected === 'comma') &&
        brackets.at(-1) === '{')
    ) {
      brackets.pop()
      expected = afterValue(brackets)
    } else if (char === ':' && expected === 'colon') expected = 'value'
    else if (char === ',' && expected === 'comma') {
      expected = brackets.at(-1) === '[' ? 'value' : 'name'
    } else if (isValue) {
      end = findLiteralEnd(text, position)
      if (end < 0) return ~end
      expected = afterValue(brackets)
    } else return position
    position = skipSpace(text, end)
  }
  return text.length
}

function afterValue(brackets: readonly string[]): Expected {
  return brackets.length === 0 ? 'end' : 'comma'
}

function skipSpace(text: string, start: number): number {
  return readWith(/[ \n\r\t]*/y, text, start)
}

/** Returns the position after the string that starts here, or the complement (`~`) of the position of its fault. */
function findStringEnd(text: string, start: number): number {
  let position = start + 1
  for (;;) {
    // oxlint-disable-next-line no-control-regex -- JSON allows no such character in a string
    position = readWith(/[^"\\\0-\x1f]*/y, text, position)
    if (text[position] === '"') return position + 1
    const end = readWith(/\\(?:["\\/bfnrt]|u[\da-fA-F]{0,4})?/y, text, position)
    if (!/^\\(?:[^u]|u.{4})$/.test(text.slice(position, end))) return ~end
    position = end
  }
}

/** Like `findStringEnd`, for a number, `true`, `false` or `null`. */
function findLiteralEnd(text: string, start: number): number {
  const word = ['true', 'false', 'null'].find(([first]) => first === text[start])
  if (word === undefined) {
    const end = readWith(START_OF_NUMBER, text, start)
    return end > start && /\d/.test(text[end - 1] ?? '') ? end : ~end
  }
  let length = 1
  while (length < word.length && text[start + length] === word[length]) length += 1
  return length === word.length ? start + length : ~(start + length)
}

/** Also matches numbers that are incomplete, such as `-`, `1.` or `2e+`. */
const START_OF_NUMBER = /-?(?:(?:0|[1-9]\d*)(?:\.(?:\d+(?:[eE][+-]?\d*)?)?|[eE][+-]?\d*)?)?/y

/** Returns the position after the match of the sticky expression; `start` if it does not match. */
function readWith(expression: RegExp, text: string, start: number): number {
  expression.lastIndex = start
  return expression.test(text) ? expression.lastIndex : start
}
