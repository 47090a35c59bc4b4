/**
 * Encodes function names. Gemini rejects some names that OpenAI accepts, e.g. `2d plot`, and has no
 * custom tools. So the decoder maps the names in an answer back to the client's tools.
 */
import { hashFnv1a } from '../short-hash.ts'

/** The names that Gemini accepts: https://ai.google.dev/api/caching#FunctionDeclaration */
const VALID_NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/

export function encodeToolName(name: string): string {
  if (VALID_NAME.test(name)) return name
  const plain = name.replaceAll(/[^a-zA-Z0-9_.:-]/g, '_').slice(0, 54)
  return `${/^[a-zA-Z_]/.test(plain) ? '' : '_'}${plain}_${hashFnv1a(name).toString(36)}`
}
