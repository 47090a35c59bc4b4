/**
 * Lists the fields of a client's request that the model was not given as requested: an encoder dropped or weakened
 * them, or the upstream rejected them, e.g. `n`, `tools[0]`, `tool_choice`. What the gateway itself adds to a request
 * is not listed.
 */
import { findClientField, hasRequestField } from './translate-provider-notes.ts'
import type { PlannedRequest } from './planned-request.ts'

export function listLostFields({
  notes,
  clientRequest: { body },
}: Pick<PlannedRequest, 'notes' | 'clientRequest'>): readonly string[] {
  const lost = notes
    .filter(({ did }) => did === 'dropped' || did === 'weakened')
    .flatMap(({ field }) => (field === undefined ? [] : [findClientField(body, field)]))
  return [...new Set(lost)].filter((field) => hasRequestField(body, field))
}
