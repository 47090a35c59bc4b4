/**
 * Rejects a request with a feature that its upstream does not support, if the setting `UNSUPPORTED` or the
 * header `x-backstory-unsupported` is `reject`. Otherwise a note records the loss.
 *
 * A rejection is about what the client sends in this request: fields, tools, messages, tool outputs. Losses
 * in the model's earlier items and in the history are notes in any case: the client cannot change those.
 */
import { NOTE_DESCRIPTIONS } from '../../context/note-descriptions.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import type { UpstreamTarget } from '../../upstream/accounts-and-model-routing.ts'
import type { PreparedRequest } from './planned-request.ts'
import { itemParamPath } from './request-item-path.ts'

export const UNSUPPORTED_HEADER = 'x-backstory-unsupported'

/** `note`: the request is sent without the feature, and a note records that. `reject`: it is rejected. */
export type UnsupportedRule = 'note' | 'reject'

/** Reads the header, which overrides the setting `UNSUPPORTED` for one request; null if it is absent. */
export function parseUnsupportedHeader(header: string | null): UnsupportedRule | null {
  if (header === null || header === 'note' || header === 'reject') return header
  throw new GatewayError(
    'invalid_value',
    `Invalid value for the header ${UNSUPPORTED_HEADER}. Supported values are: 'note', 'reject'.`,
  )
}

export type RoutedTargets = readonly [UpstreamTarget, ...UpstreamTarget[]]

/** Returns the targets that can take the complete request; throws if none can and the rule is to reject. */
export function filterCapableTargets(
  targets: RoutedTargets,
  prepare: (target: UpstreamTarget) => PreparedRequest,
  rule: UnsupportedRule,
): RoutedTargets {
  if (rule === 'note') return targets
  const rejections = targets.map((target) => createRejection(prepare(target)))
  const [first, ...others] = targets.filter((_, index) => rejections[index] === null)
  if (first === undefined) throw rejections[0] ?? new GatewayError('unsupported_parameter')
  return [first, ...others]
}

/** Returns null if the upstream can take the complete request. */
function createRejection(prepared: PreparedRequest): GatewayError | null {
  const loss = prepared.notes.find((note) => isLoss(note, prepared))
  if (loss === undefined) return null
  const param = loss.field ?? itemParamPath(prepared, loss.at ?? 0)
  const reason = describeNote(loss, prepared)
  return new GatewayError('unsupported_parameter', `Unsupported parameter: '${param}'. ${reason}`, {
    param,
  })
}

/** Returns the sentence for a note's `why`, with the detail of this case; undefined if there is none. */
export function describeNote(
  { why, detail }: Pick<Note, 'why' | 'detail'>,
  { provider }: Pick<PreparedRequest, 'provider'>,
): string | undefined {
  const sentence = provider.notes[why]?.[1]
  if (sentence === undefined) return detail ?? NOTE_DESCRIPTIONS[why]
  if (detail === undefined) return sentence
  return `${sentence.replace(/\.$/, '')} (${detail}).`
}

/** True for a note of the encoder about a field or a client's item. Edits by transforms are intended. */
function isLoss(
  { did, at, field, by }: Note,
  { provider, items, history }: PreparedRequest,
): boolean {
  if (did !== 'dropped' || by !== provider.wire) return false
  if (field !== undefined) return true
  const item = at === undefined || at < history.items.length ? undefined : items[at]
  return item !== undefined && isClientItem(item)
}

function isClientItem(item: Item): boolean {
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
