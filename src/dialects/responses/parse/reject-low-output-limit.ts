/**
 * Rejects a new request whose `max_output_tokens` is below OpenAI's minimum. The parser does not check this, because it
 * also reads stored requests, and earlier versions accepted lower limits. Open WebUI's own tasks are accepted, because
 * its task for an emoji always asks for 4 tokens.
 */
import type { ClientRequest } from '../../../core/client-request.ts'
import { asIntegerBetween } from '../../checks/check-value-limits.ts'

export function rejectLowOutputLimit({ dialect, params, client }: ClientRequest): void {
  const { maxOutputTokens } = params
  if (dialect !== 'responses' || maxOutputTokens === null || client.isTask) return
  asIntegerBetween(MIN_OUTPUT_TOKENS, Number.MAX_SAFE_INTEGER)(maxOutputTokens, 'max_output_tokens')
}

const MIN_OUTPUT_TOKENS = 16
