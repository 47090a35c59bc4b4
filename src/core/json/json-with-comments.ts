/**
 * Parses JSON that may have comments (`// …` and block comments). If the text has a fault, throws an Error that names
 * its line and column and does not quote the text.
 */
import { describeJsonFault } from './describe-json-fault.ts'

export function parseJsonWithComments(text: string): unknown {
  // A comment is replaced by as many spaces, so that the positions of faults stay the same.
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
