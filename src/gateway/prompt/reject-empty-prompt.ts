/**
 * Rejects a request of which no item remains that a model can answer. Otherwise some encoders would send
 * an empty list and others a placeholder text, and the model would answer a question that the user did
 * not ask.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Item } from '../../core/item.ts'
import { encodePlannedRequest } from './encode-planned-request.ts'
import type { PlannedRequest } from './planned-request.ts'
import { itemListField, itemParamPath } from './request-item-path.ts'

/** Returns the plan itself if a model can answer it; throws a GatewayError otherwise. */
export function rejectEmptyPrompt(planned: PlannedRequest): PlannedRequest {
  const { clientRequest, items, prompt, account } = planned
  // Only the Responses API reads hosted tool items and reasoning.
  const isResponses = account.wire === 'responses'
  const isAnswerable = (item: Item): boolean =>
    isMessageOrTool(item) || (isResponses && !isSystemMessage(item))
  if (!clientRequest.generatesAnswer || prompt.items.some(isAnswerable)) return planned
  if (items.every(isSystemMessage)) {
    // Instructions, a system message, or a prompt stored at OpenAI can be answered by themselves.
    const hasInstructions = items.length > 0 || prompt.params.instructions !== null
    if (hasInstructions || isResponses) return planned
  }
  // The encoder's notes include items that the upstream's API has no form for.
  const { notes } = encodePlannedRequest(planned)
  const loss = notes.find(({ did, at }) => did === 'dropped' && at !== undefined)
  const advice = ADVICE.get(loss?.why ?? '') ?? 'Send at least one message of the user.'
  const param =
    loss?.at === undefined ? itemListField(clientRequest) : itemParamPath(planned, loss.at)
  const message = `Nothing of '${itemListField(clientRequest)}' can be sent to the model. ${advice}`
  throw new GatewayError('invalid_value', message, { param })
}

/** Advice in the error message, by the `why` of the first note about a dropped item. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  [
    'output-without-call',
    "A tool's output must follow the call that it answers: send that call as well.",
  ],
  ['call-malformed', 'A tool call needs an id and a name.'],
  ['reasoning-without-follower', 'Reasoning must be followed by what the model said or called.'],
])

function isSystemMessage(item: Item): boolean {
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer')
}

function isMessageOrTool(item: Item): boolean {
  switch (item.type) {
    case 'message':
      return !isSystemMessage(item)
    case 'function_call':
    case 'function_call_output':
    case 'custom_tool_call':
    case 'custom_tool_call_output':
      return true
    case 'reasoning':
    case 'opaque':
      return false
  }
}
