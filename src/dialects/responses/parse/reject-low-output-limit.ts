/**
 * Rejects a new request whose `max_output_tokens` is below OpenAI's minimum. This check is not a part of the parser,
 * because the parser also reads stored requests, and earlier versions stored requests with lower limits. Task requests
 * of Open WebUI may have lower limits: the task that chooses an emoji always has 4 tokens.
 */
import type { ClientRequest } from '../../../core/client-request.ts'
import { asIntegerBetween } from '../../checks/check-value-limits.ts'

export function rejectLowOutputLimit({ dialect, params, client }: ClientRequest): void {
  const { maxOutputTokens } = params
  if (dialect !== 'responses' || maxOutputTokens === null || client.isTask) return
  asIntegerBetween(MIN_OUTPUT_TOKENS, Number.MAX_SAFE_INTEGER)(maxOutputTokens, 'max_output_tokens')
}

const MIN_OUTPUT_TOKENS = 16
