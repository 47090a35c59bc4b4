/** A plan in the words of its wire, with what the wire has noted of that. */
import { translateProviderNotes } from './translate-provider-notes.ts'
import type { PlannedRequest } from './plan-request.ts'
import type { PreparedRequest } from './prepare-request.ts'

export function encodePlannedRequest(plan: PlannedRequest): PreparedRequest {
  const { clientRequest, account, provider, prompt, originalPositions, notes } = plan
  const encoded = provider.encode(prompt, account)
  const ofBody = translateProviderNotes(encoded.notes, originalPositions, clientRequest.body)
  return { ...plan, encoded, notes: [...notes, ...ofBody] }
}
