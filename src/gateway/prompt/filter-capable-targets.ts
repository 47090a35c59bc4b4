/**
 * Rejects a request with a feature that its upstream does not support, if the setting `UNSUPPORTED` or the
 * header `x-backstory-unsupported` is `reject`. Otherwise the feature is dropped with a note.
 *
 * Only request fields, and new messages and tool outputs of the client, can be the reason for a rejection. The
 * client cannot change the history or the model's items, so what is dropped from those only causes notes.
 */
import { NOTE_DESCRIPTIONS } from '../../context/note-descriptions.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { type Item, isToolOutput } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import type { UpstreamTarget } from '../../upstream/accounts-and-model-routing.ts'
import type { PreparedRequest } from './planned-request.ts'
import { formatItemPath } from './request-item-path.ts'

export const UNSUPPORTED_HEADER = 'x-backstory-unsupported'

/** `note`: the unsupported feature is dropped with a note. `reject`: the request is rejected. */
export type UnsupportedFeatureRule = 'note' | 'reject'

/** Parses the header `x-backstory-unsupported`; returns null if the request has none. */
export function parseUnsupportedHeader(header: string | null): UnsupportedFeatureRule | null {
  if (header === null || header === 'note' || header === 'reject') return header
  throw new GatewayError(
    'invalid_value',
    `Invalid value for the header ${UNSUPPORTED_HEADER}. Supported values are: 'note', 'reject'.`,
  )
}

export type RoutedTargets = readonly [UpstreamTarget, ...UpstreamTarget[]]

/**
 * With the rule `note`, returns all targets. With `reject`, returns those that support all features; throws if
 * none does.
 */
export function filterCapableTargets(
  targets: RoutedTargets,
  prepare: (target: UpstreamTarget) => PreparedRequest,
  rule: UnsupportedFeatureRule,
): RoutedTargets {
  if (rule === 'note') return targets
  const rejections = targets.map((target) => createRejection(prepare(target)))
  const [first, ...others] = targets.filter((_, index) => rejections[index] === null)
  if (first === undefined) throw rejections[0] ?? new GatewayError('unsupported_parameter')
  return [first, ...others]
}

/** Returns the error for the first unsupported feature; null if the upstream supports all features. */
function createRejection(prepared: PreparedRequest): GatewayError | null {
  const loss = prepared.notes.find((note) => isLoss(note, prepared))
  if (loss === undefined) return null
  const param = loss.field ?? formatItemPath(prepared, loss.at ?? 0)
  const reason = describeNote(loss, prepared)
  return new GatewayError('unsupported_parameter', `Unsupported parameter: '${param}'. ${reason}`, {
    param,
  })
}

/**
 * Returns the text that explains a note to a user: the sentence for its `why`, its detail, or both; undefined if
 * it has neither.
 */
export function describeNote(
  { why, detail }: Pick<Note, 'why' | 'detail'>,
  { provider }: Pick<PreparedRequest, 'provider'>,
): string | undefined {
  const sentence = provider.notes[why]?.[1]
  if (sentence === undefined) return detail ?? NOTE_DESCRIPTIONS[why]
  if (detail === undefined) return sentence
  return `${sentence.replace(/\.$/, '')} (${detail}).`
}

/**
 * True if the encoder dropped a field, or a new message or tool output that the client wrote. Dropped items of the
 * model, and items that transforms drop, are no loss.
 */
function isLoss(
  { did, at, field, by }: Note,
  { provider, items, history }: PreparedRequest,
): boolean {
  if (did !== 'dropped' || by !== provider.wire) return false
  if (field !== undefined) return true
  const item = at === undefined || at < history.items.length ? undefined : items[at]
  return item !== undefined && isWrittenByClient(item)
}

function isWrittenByClient(item: Item): boolean {
  if (item.type === 'message') return item.role !== 'assistant'
  if (item.type !== 'opaque') return isToolOutput(item)
  const { type } = item.raw
  return typeof type === 'string' && /_(output|response)$/.test(type)
}
