/** A plan in the words of its wire, with what the wire has noted of that. */
import { clientNotes } from './translate-provider-notes.ts'
import type { Planned } from './plan-request.ts'
import type { Prepared } from './prepare-request.ts'

export function encodePlan(plan: Planned): Prepared {
  const { inbound, account, provider, prompt, places, notes } = plan
  const encoded = provider.encode(prompt, account)
  const ofBody = clientNotes(encoded.notes, places, inbound.body)
  return { ...plan, encoded, notes: [...notes, ...ofBody] }
}
