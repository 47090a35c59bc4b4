/** Pages of a list: which part of it is wanted, and the object that shows it. */
import type { JsonObject } from '../../core/json/json.ts'
import { asOneOf } from '../../dialects/checks/check-json-types.ts'
import { asIntegerBetween } from '../../dialects/checks/check-value-limits.ts'
import { GatewayError } from '../../core/errors/gateway-error.ts'
import { shortenForError } from './route-interface.ts'

export interface Paging {
  /** The id behind which the page begins, in the order asked for. */
  readonly after: string | null
  readonly limit: number
  readonly order: 'asc' | 'desc'
}

export function readPaging(query: URLSearchParams, defaultOrder: Paging['order']): Paging {
  const limit = query.get('limit')
  return {
    after: query.get('after') || null,
    limit: limit === null ? 20 : asLimit(asNumber(limit), 'limit'),
    order: asOrder(query.get('order') ?? defaultOrder, 'order'),
  }
}

const asLimit = asIntegerBetween(1, 100)
const asOrder = asOneOf(['asc', 'desc'])

/** What is no number stays what it is, to be complained about. */
function asNumber(text: string): number | string {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text
}

export interface PageEntry {
  readonly id: string
  /** Something that is not listed, behind which a page may begin all the same. */
  readonly isHidden?: boolean
}

export interface Page<Entry> {
  readonly entries: readonly Entry[]
  readonly hasMore: boolean
}

/** `all` in ascending order. */
export function cutPage<Entry extends PageEntry>(
  all: readonly Entry[],
  { after, limit, order }: Paging,
): Page<Entry> {
  const ordered = order === 'asc' ? all : all.toReversed()
  const rest = ordered.slice(after === null ? 0 : placeOf(after, ordered) + 1)
  const shown = rest.filter(({ isHidden = false }) => !isHidden)
  return { entries: shown.slice(0, limit), hasMore: shown.length > limit }
}

function placeOf(after: string, ordered: readonly PageEntry[]): number {
  const place = ordered.findIndex(({ id }) => id === after)
  if (place >= 0) return place
  throw createUnknownCursorError(after)
}

export function createUnknownCursorError(after: string): GatewayError {
  return new GatewayError(
    'invalid_value',
    `Invalid 'after': there is no '${shortenForError(after)}' in this list. Use the \`last_id\` of the page before.`,
    { param: 'after' },
  )
}

/** Strict clients take no null for an id: of an empty list there is none, but as an empty text. */
export function renderList(data: readonly JsonObject[], hasMore: boolean): JsonObject {
  const idOf = (entry: JsonObject | undefined) => entry?.['id'] ?? ''
  return {
    object: 'list',
    data,
    first_id: idOf(data[0]),
    last_id: idOf(data.at(-1)),
    has_more: hasMore,
  }
}
