/**
 * Instructions that are no item of the list, without markers: an Open WebUI tells the whole thread of a
 * channel in them.
 */
import type { Note } from '../../core/note.ts'
import type { PromptParameters } from '../../core/prompt.ts'
import { removeMarkers } from '../../core/markers/remove-markers.ts'

/** The very same params if there is none. */
export function stripInstructionMarkers(params: PromptParameters): {
  readonly params: PromptParameters
  readonly notes: readonly Note[]
} {
  const { instructions } = params
  const unmarked = instructions === null ? null : removeMarkers(instructions)
  if (unmarked === instructions) return { params, notes: [] }
  const note = { did: 'changed', field: 'instructions', why: 'marker-removed' } as const
  return { params: { ...params, instructions: unmarked }, notes: [note] }
}
