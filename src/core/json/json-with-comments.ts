/**
 * Parses JSON that may have comments (`// …` and block comments). Throws an Error that names the line and column of a
 * fault, and does not quote the text.
 */
import { describeJsonFault } from './describe-json-fault.ts'

export function parseJsonWithComments(text: string): unknown {
  // Spaces in place of a comment keep the position of all that follows.
  const json = text.replace(STRING_OR_COMMENT, (match) =>
    match.startsWith('"') ? match : match.replace(/[^\n]/g, ' '),
  )
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw new Error(`${describeJsonFault(json)}.`, { cause })
  }
}

const STRING_OR_COMMENT = /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[^]*?\*\//g
