/**
 * Encodes tool names, because Gemini rejects some that OpenAI accepts, e.g. `2d plot` →
 * `_2d_plot_<hash>`. The decoder restores the names in an answer.
 */
import { hashFnv1a } from '../short-hash.ts'

/** Matches names that Gemini accepts: https://ai.google.dev/api/caching#FunctionDeclaration */
const VALID_NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/

export function encodeToolName(name: string): string {
  if (VALID_NAME.test(name)) return name
  const plain = name.replaceAll(/[^a-zA-Z0-9_.:-]/g, '_').slice(0, 54)
  return `${/^[a-zA-Z_]/.test(plain) ? '' : '_'}${plain}_${hashFnv1a(name).toString(36)}`
}
