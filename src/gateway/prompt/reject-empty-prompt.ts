/**
 * Rejects a request whose prompt has no item that a model can answer. Otherwise some encoders would send an
 * empty list and others a placeholder text, and the model would answer a question that no user has asked.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { type Item, isToolItem } from '../../core/item.ts'
import { isObject } from '../../core/json/json.ts'
import { encodePlannedRequest } from './encode-planned-request.ts'
import type { PlannedRequest } from './planned-request.ts'
import { getItemListField, formatItemPath } from './request-item-path.ts'

/** Returns `planned` if a model can answer it; throws a GatewayError otherwise. */
export function rejectEmptyPrompt(planned: PlannedRequest): PlannedRequest {
  const { clientRequest, items, prompt, account } = planned
  // Only the Responses API accepts items of hosted tools, or reasoning alone.
  const isResponses = account.wire === 'responses'
  const isAnswerable = (item: Item): boolean =>
    !isSystemMessage(item) && (isResponses || item.type === 'message' || isToolItem(item))
  if (!clientRequest.generatesAnswer || prompt.items.some(isAnswerable)) return planned
  if (items.every(isSystemMessage)) {
    // Instructions alone are enough for an answer. With the Responses API even an empty request may be: it can
    // name a prompt that is stored at OpenAI.
    const hasInstructions = items.length > 0 || prompt.params.instructions !== null
    if (hasInstructions || isResponses) return planned
  }
  if (items.length === 0 && isObject(clientRequest.body['prompt'])) throw createStoredPromptError()
  // Encodes the plan for its notes: the encoder drops items that the upstream's API cannot express.
  const { notes } = encodePlannedRequest(planned)
  const loss = notes.find(({ did, at }) => did === 'dropped' && at !== undefined)
  const advice = ADVICE.get(loss?.why ?? '') ?? 'Send at least one message of the user.'
  const param =
    loss?.at === undefined ? getItemListField(clientRequest) : formatItemPath(planned, loss.at)
  const message = `Nothing of '${getItemListField(clientRequest)}' can be sent to the model. ${advice}`
  throw new GatewayError('invalid_value', message, { param })
}

function createStoredPromptError(): GatewayError {
  const message =
    "`prompt` names a prompt that is stored at OpenAI, which the upstream of this model cannot read. Send the text as 'input'."
  return new GatewayError('invalid_value', message, { param: 'prompt' })
}

/** Advice for the error message, by the `why` of the first note about a dropped item. */
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
