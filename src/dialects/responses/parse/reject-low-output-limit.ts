/**
 * Rejects a new request whose `max_output_tokens` is below OpenAI's minimum. The parser does not check this, because it
 * also reads stored requests, and earlier versions accepted lower limits.
 */
import type { ClientRequest } from '../../../core/client-request.ts'
import { asIntegerBetween } from '../../checks/check-value-limits.ts'

export function rejectLowOutputLimit({ dialect, params }: ClientRequest): void {
  const { maxOutputTokens } = params
  if (dialect !== 'responses' || maxOutputTokens === null) return
  asIntegerBetween(MIN_OUTPUT_TOKENS, Number.MAX_SAFE_INTEGER)(maxOutputTokens, 'max_output_tokens')
}

const MIN_OUTPUT_TOKENS = 16
