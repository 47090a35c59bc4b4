/**
 * `POST /v1/responses/input_tokens`: how large a request would be. Counted by the upstream if it
 * counts, over the very body that would be sent; estimated otherwise.
 */
import type { Caller } from '../../core/client/caller.ts'
import type { JsonObject } from '../../core/json/json.ts'
import { parseRequestWithOverrides } from '../../dialects/context-policy/parse-request-with-overrides.ts'
import { responsesDialect } from '../../dialects/responses/responses-dialect.ts'
import type { GatewayDependencies } from '../../gateway/dependencies-interface.ts'
import { prepareDryRun } from '../../gateway/prompt/dry-run.ts'
import type { PreparedRequest } from '../../gateway/prompt/planned-request.ts'
import { estimateRequestTokens } from '../../gateway/prompt/size/estimate-tokens-and-window.ts'
import { callOtherEndpoint } from '../../gateway/send/call-other-endpoint.ts'
import { hasResponsesEndpoint } from '../../providers/has-responses-endpoint.ts'

export async function countTokens(
  body: JsonObject,
  caller: Caller,
  world: GatewayDependencies,
): Promise<JsonObject> {
  // All that there is to count may be instructions and tools.
  const asked = { ...body, input: body['input'] ?? [], stream: false }
  const prepared = await prepareDryRun(
    parseRequestWithOverrides(responsesDialect, asked),
    caller,
    world,
  )
  const counted = hasResponsesEndpoint(prepared.account, 'inputTokens')
    ? await countedUpstream(prepared, world)
    : null
  return {
    object: 'response.input_tokens',
    input_tokens: counted ?? estimateRequestTokens(prepared),
  }
}

/** What the endpoint understands; all else belongs to an answer. */
const COUNTED = [
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

/** `null` if the upstream does not say: a count is no reason to fail. */
async function countedUpstream(
  prepared: PreparedRequest,
  world: GatewayDependencies,
): Promise<number | null> {
  try {
    const json = await callOtherEndpoint('/responses/input_tokens', COUNTED, prepared, world)
    const { input_tokens: tokens } = json
    return typeof tokens === 'number' ? tokens : null
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    world.log('warn', 'tokens-not-counted', { upstream: prepared.account.name, why })
    return null
  }
}
