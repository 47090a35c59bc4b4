/**
 * A request of which nothing lawful is left is refused. Some wires would send an empty list, others
 * words of their own in its place, and a model would answer what nobody asked.
 */
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Item } from '../../core/item.ts'
import { encodePlannedRequest } from './encode-planned-request.ts'
import type { PlannedRequest } from './planned-request.ts'
import { itemListField, itemParamPath } from './request-item-path.ts'

/** The same, if there is something to be sent. Throws a GatewayError. */
export function rejectEmptyPrompt(planned: PlannedRequest): PlannedRequest {
  const { clientRequest, items, prompt, account } = planned
  const isLeft = (item: Item): boolean => isSpoken(item) || (isOwn && !isSystem(item))
  // Hosted items and reasoning are of their own wire: to any other they are nothing to answer.
  const isOwn = account.wire === 'responses'
  if (!clientRequest.generatesAnswer || prompt.items.some(isLeft)) return planned
  if (items.every(isSystem)) {
    // A stored prompt, and a system message, can do without anything else.
    const isAsked = items.length > 0 || prompt.params.instructions !== null || isOwn
    if (isAsked) return planned
  }
  // What the wire has no words for is lost as well.
  const { notes } = encodePlannedRequest(planned)
  const loss = notes.find(({ did, at }) => did === 'dropped' && at !== undefined)
  const why = WHY.get(loss?.why ?? '') ?? 'Send at least one message of the user.'
  const param =
    loss?.at === undefined ? itemListField(clientRequest) : itemParamPath(planned, loss.at)
  const message = `Nothing of '${itemListField(clientRequest)}' can be sent to the model. ${why}`
  throw new GatewayError('invalid_value', message, { param })
}

const WHY: ReadonlyMap<string, string> = new Map([
  [
    'output-without-call',
    "A tool's output must follow the call that it answers: send that call as well.",
  ],
  ['call-malformed', 'A tool call needs an id and a name.'],
  ['reasoning-without-follower', 'Reasoning must be followed by what the model said or called.'],
])

function isSystem(item: Item): boolean {
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer')
}

function isSpoken(item: Item): boolean {
  switch (item.type) {
    case 'message':
      return !isSystem(item)
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
