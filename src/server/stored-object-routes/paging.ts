/** Reads paging parameters (`after`, `limit`, `order`) from a query, and renders a page of a list. */
import type { JsonObject } from '../../core/json/json.ts'
import { asOneOf, createInvalidFieldError } from '../../dialects/checks/check-json-types.ts'
import { asIntegerBetween } from '../../dialects/checks/check-value-limits.ts'
import type { GatewayError } from '../../core/errors/gateway-error.ts'
import { shortenForError } from './route-interface.ts'

export interface Paging {
  /** The page begins after the entry with this id, in the requested order. */
  readonly after: string | null
  readonly limit: number
  readonly order: 'asc' | 'desc'
}

export function readPaging(query: URLSearchParams, defaultOrder: Paging['order']): Paging {
  const limit = query.get('limit')
  return {
    after: query.get('after') || null,
    limit: limit === null ? 20 : asLimit(convertDigits(limit), 'limit'),
    order: asOrder(query.get('order') ?? defaultOrder, 'order'),
  }
}

const asLimit = asIntegerBetween(1, 100)
const asOrder = asOneOf(['asc', 'desc'])

/**
 * Converts digits to a number: `"20"` → 20. Other text is returned unchanged, so that a later check
 * rejects it.
 */
function convertDigits(text: string): number | string {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text
}

export interface PageEntry {
  readonly id: string
  /** True if the entry is left out of every page. `after` may still name it. */
  readonly isHidden?: boolean
}

/** Renders one page of the list `all`, which must be in ascending order. */
export function renderPage<Entry extends PageEntry>(
  all: readonly Entry[],
  paging: Paging,
  render: (entry: Entry) => JsonObject,
): JsonObject {
  const { entries, hasMore } = selectPage(all, paging)
  return renderList(
    entries.map((entry) => render(entry)),
    hasMore,
  )
}

/** Selects the entries of one page of the list `all`, which must be in ascending order. */
export function selectPage<Entry extends PageEntry>(
  all: readonly Entry[],
  { after, limit, order }: Paging,
): { readonly entries: readonly Entry[]; readonly hasMore: boolean } {
  const ordered = order === 'asc' ? all : all.toReversed()
  const rest = ordered.slice(after === null ? 0 : findPosition(after, ordered) + 1)
  const visible = rest.filter(({ isHidden = false }) => !isHidden)
  return { entries: visible.slice(0, limit), hasMore: visible.length > limit }
}

function findPosition(after: string, ordered: readonly PageEntry[]): number {
  const position = ordered.findIndex(({ id }) => id === after)
  if (position >= 0) return position
  throw createUnknownCursorError(after)
}

export function createUnknownCursorError(after: string): GatewayError {
  return createInvalidFieldError(
    'after',
    `there is no '${shortenForError(after)}' in this list. Use the \`last_id\` of the page before.`,
  )
}

/**
 * Renders a list. If it is empty, its `first_id` and `last_id` are `""`, because strict clients
 * reject null.
 */
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
