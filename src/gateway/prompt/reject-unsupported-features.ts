/**
 * What becomes of a request that asks for something its upstream has no word for. A loss is a note,
 * unless `UNSUPPORTED`, or the header of the same name, would rather have the request refused.
 *
 * Refused is what the client itself asks for in this request: a field, a tool, something that it
 * says. What the model said earlier, and what is remembered, is not the client's to take back.
 */
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import type { Target } from '../../upstream/accounts-and-model-routing.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Inbound } from '../../core/client-request.ts'
import type { Planned } from './plan-request.ts'
import type { Prepared } from './prepare-request.ts'
import { REASONS } from '../../context/note-descriptions.ts'
import type { World } from '../dependencies-interface.ts'

export const UNSUPPORTED_HEADER = 'x-backstory-unsupported'

/** The header is the setting for one request. */
export function withUnsupported(world: World, header: string | null): World {
  if (header === null || header === world.settings.UNSUPPORTED) return world
  if (header === 'note' || header === 'reject') {
    return { ...world, settings: { ...world.settings, UNSUPPORTED: header } }
  }
  throw new GatewayError(
    'invalid_value',
    `Invalid value for the header ${UNSUPPORTED_HEADER}. Supported values are: 'note', 'reject'.`,
  )
}

type Targets = readonly [Target, ...Target[]]

/** Those to which the whole request can be told. Throws if there is none, and that is wanted. */
export function ableTargets(
  targets: Targets,
  prepare: (target: Target) => Prepared,
  { settings }: World,
): Targets {
  if (settings.UNSUPPORTED === 'note') return targets
  const refusals = targets.map((target) => refusalOf(prepare(target)))
  const [first, ...others] = targets.filter((_, at) => refusals[at] === null)
  if (first === undefined) throw refusals[0] ?? new GatewayError('unsupported_parameter')
  return [first, ...others]
}

function refusalOf(prepared: Prepared): GatewayError | null {
  const loss = prepared.notes.find((note) => isLoss(note, prepared))
  if (loss === undefined) return null
  const param = loss.field ?? placeIn(prepared, loss.at ?? 0)
  const why = sentenceOf(loss, prepared)
  return new GatewayError('unsupported_parameter', `Unsupported parameter: '${param}'. ${why}`, {
    param,
  })
}

/** What happened to something that a note is about, with what is peculiar to this case. */
export function sentenceOf(
  { why, detail }: Pick<Note, 'why' | 'detail'>,
  { provider }: Pick<Prepared, 'provider'>,
): string | undefined {
  const sentence = provider.notes[why]?.[1]
  if (sentence === undefined) return detail ?? REASONS[why]
  if (detail === undefined) return sentence
  return `${sentence.replace(/\.$/, '')} (${detail}).`
}

/** The gateway's own edits have a reason of their own; a wire's notes say what it cannot say. */
function isLoss({ did, at, field, by }: Note, { provider, items, history }: Prepared): boolean {
  if (did !== 'dropped' || by !== provider.wire) return false
  if (field !== undefined) return true
  const item = at === undefined || at < history.items.length ? undefined : items[at]
  return item !== undefined && isOfClient(item)
}

function isOfClient(item: Item): boolean {
  switch (item.type) {
    case 'message':
      return item.role !== 'assistant'
    case 'function_call_output':
    case 'custom_tool_call_output':
      return true
    case 'function_call':
    case 'custom_tool_call':
    case 'reasoning':
      return false
    case 'opaque': {
      const { type } = item.raw
      return typeof type === 'string' && /_(output|response)$/.test(type)
    }
  }
}

/** Which entry of the list it is can be told only where every entry has made one item. */
export function placeIn({ inbound, history }: Planned, at: number): string {
  const { body, items } = inbound
  const list = listOf(inbound)
  const place = at - history.items.length
  const entries = body[list]
  const isOneToOne = Array.isArray(entries) && entries.length === items.length
  return isOneToOne && place >= 0 && place < items.length ? `${list}[${place}]` : list
}

/** What a client calls its conversation. */
export function listOf({ dialect }: Inbound): 'messages' | 'input' {
  return dialect === 'chat' ? 'messages' : 'input'
}
