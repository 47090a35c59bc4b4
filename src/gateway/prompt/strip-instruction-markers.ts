/**
 * Instructions that are no item of the list, without markers: an Open WebUI tells the whole thread of a
 * channel in them.
 */
import type { Note } from '../../core/note.ts'
import type { Params } from '../../core/prompt.ts'
import { withoutMarkers } from '../../core/markers/remove-markers.ts'

/** The very same params if there is none. */
export function unmarkedInstructions(params: Params): {
  readonly params: Params
  readonly notes: readonly Note[]
} {
  const { instructions } = params
  const unmarked = instructions === null ? null : withoutMarkers(instructions)
  if (unmarked === instructions) return { params, notes: [] }
  const note = { did: 'changed', field: 'instructions', why: 'marker-removed' } as const
  return { params: { ...params, instructions: unmarked }, notes: [note] }
}
