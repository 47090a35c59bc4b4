/**
 * `POST /v1/responses/input_tokens`: counts the tokens of the body that the gateway would send. The
 * upstream counts them if it has a token counting endpoint; otherwise they are estimated.
 */
import type { JsonObject } from '../../core/json/json.ts'
import { parseRequestAndBackstoryFields } from '../../dialects/context-policy/parse-request-and-backstory-fields.ts'
import { responsesDialect } from '../../dialects/responses/responses-dialect.ts'
import { hasCompactOrCountEndpoint } from '../../providers/has-compact-or-count-endpoint.ts'
import { callCompactOrCountEndpoint } from '../../gateway/send/call-compact-or-count-endpoint.ts'
import { estimateRequestTokens } from '../../gateway/prompt/size/estimate-tokens-and-window.ts'
import { prepareDryRun } from '../../gateway/prompt/prepare-dry-run.ts'
import type { PreparedRequest } from '../../gateway/prompt/planned-request.ts'
import type { AuthenticatedRequest } from '../authenticate-request.ts'
import type { GatewayDependencies, Ports } from '../../gateway/dependencies-interface.ts'

export async function countTokens(
  { caller, readJsonObject }: AuthenticatedRequest,
  ports: GatewayDependencies,
): Promise<JsonObject> {
  const body = await readJsonObject()
  // `input` may be missing, because a request may have only instructions or tools.
  const dryRun = { ...body, input: body['input'] ?? [], stream: false }
  const clientRequest = parseRequestAndBackstoryFields(responsesDialect, dryRun)
  const prepared = await prepareDryRun(clientRequest, caller, ports)
  const counted = hasCompactOrCountEndpoint(prepared.account, 'inputTokens')
    ? await requestTokenCount(prepared, ports)
    : null
  return {
    object: 'response.input_tokens',
    input_tokens: counted ?? estimateRequestTokens(prepared),
  }
}

/** The fields that the upstream's token counting endpoint accepts; it rejects others. */
const COUNTED_FIELDS = [
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'text',
  'reasoning',
  'truncation',
  'parallel_tool_calls',
  'personality',
]

/**
 * Requests the token count from the upstream. Resolves to null if the upstream fails; the caller
 * then estimates the count.
 */
async function requestTokenCount(
  prepared: PreparedRequest,
  ports: Ports<'log' | 'transport'>,
): Promise<number | null> {
  try {
    const json = await callCompactOrCountEndpoint(
      '/responses/input_tokens',
      COUNTED_FIELDS,
      prepared,
      ports,
    )
    const { input_tokens: tokens } = json
    return typeof tokens === 'number' ? tokens : null
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    ports.log('warn', 'tokens-not-counted', { upstream: prepared.account.name, why })
    return null
  }
}
