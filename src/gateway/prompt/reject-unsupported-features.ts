/**
 * What becomes of a request that asks for something its upstream has no word for. A loss is a note,
 * unless `UNSUPPORTED`, or the header of the same name, would rather have the request refused.
 *
 * Refused is what the client itself asks for in this request: a field, a tool, something that it
 * says. What the model said earlier, and what is remembered, is not the client's to take back.
 */
import { NOTE_DESCRIPTIONS } from '../../context/note-descriptions.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import type { UpstreamTarget } from '../../upstream/accounts-and-model-routing.ts'
import type { PreparedRequest } from './planned-request.ts'
import { itemParamPath } from './request-item-path.ts'

export const UNSUPPORTED_HEADER = 'x-backstory-unsupported'

/** What becomes of a request with a feature that its upstream lacks: dropped with a note, or rejected. */
export type UnsupportedRule = 'note' | 'reject'

/** Reads the header, which overrides the setting `UNSUPPORTED` for one request; null if it is absent. */
export function parseUnsupportedHeader(header: string | null): UnsupportedRule | null {
  if (header === null || header === 'note' || header === 'reject') return header
  throw new GatewayError(
    'invalid_value',
    `Invalid value for the header ${UNSUPPORTED_HEADER}. Supported values are: 'note', 'reject'.`,
  )
}

type Targets = readonly [UpstreamTarget, ...UpstreamTarget[]]

/** Returns the targets that can take the complete request; throws if none can and the rule is to reject. */
export function filterCapableTargets(
  targets: Targets,
  prepare: (target: UpstreamTarget) => PreparedRequest,
  rule: UnsupportedRule,
): Targets {
  if (rule === 'note') return targets
  const refusals = targets.map((target) => refusalOf(prepare(target)))
  const [first, ...others] = targets.filter((_, at) => refusals[at] === null)
  if (first === undefined) throw refusals[0] ?? new GatewayError('unsupported_parameter')
  return [first, ...others]
}

function refusalOf(prepared: PreparedRequest): GatewayError | null {
  const loss = prepared.notes.find((note) => isLoss(note, prepared))
  if (loss === undefined) return null
  const param = loss.field ?? itemParamPath(prepared, loss.at ?? 0)
  const why = describeNote(loss, prepared)
  return new GatewayError('unsupported_parameter', `Unsupported parameter: '${param}'. ${why}`, {
    param,
  })
}

/** What happened to something that a note is about, with what is peculiar to this case. */
export function describeNote(
  { why, detail }: Pick<Note, 'why' | 'detail'>,
  { provider }: Pick<PreparedRequest, 'provider'>,
): string | undefined {
  const sentence = provider.notes[why]?.[1]
  if (sentence === undefined) return detail ?? NOTE_DESCRIPTIONS[why]
  if (detail === undefined) return sentence
  return `${sentence.replace(/\.$/, '')} (${detail}).`
}

/** The gateway's own edits have a reason of their own; a wire's notes say what it cannot say. */
function isLoss(
  { did, at, field, by }: Note,
  { provider, items, history }: PreparedRequest,
): boolean {
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
